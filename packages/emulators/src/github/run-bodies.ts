import {
  minimalRepositoryBody,
  node,
  type Place,
  repositoryUrl,
  sha,
  time,
  userBody,
  workflowName,
} from './bodies.js'
import type { Environment } from './repository.js'
import type { Review, Run } from './run.js'
import type { AnnotationScript, ArtifactScript } from './script.js'
import { isWaiting, type JobView, type RunView, type StepView } from './timeline.js'

export function runBody(place: Place, view: RunView) {
  const { run, attempt, status, conclusion, updatedAt } = view
  const { id, repository, workflow } = run
  const repositoryApi = repositoryUrl(place, repository)
  const url = `${repositoryApi}/actions/runs/${id}`
  const commit = sha(`${repository.id}:${run.ref}`)
  const minimal = minimalRepositoryBody(place, repository)
  const at = `${url}/attempts/${attempt.number}`
  return {
    id,
    name: workflowName(workflow),
    node_id: node('WorkflowRun', id),
    check_suite_id: id,
    check_suite_node_id: node('CheckSuite', id),
    head_branch: run.ref,
    head_sha: commit,
    path: `.github/workflows/${workflow.fileName}@${run.ref}`,
    run_number: run.number,
    run_attempt: attempt.number,
    display_title: run.title,
    event: run.event,
    status,
    conclusion,
    workflow_id: workflow.id,
    url,
    html_url: runSite(place, run),
    pull_requests: [],
    created_at: time(run.attempts[0]?.startedAt ?? 0),
    updated_at: time(updatedAt),
    run_started_at: time(attempt.startedAt),
    actor: userBody(place, run.login),
    triggering_actor: userBody(place, run.login),
    jobs_url: attempt.number > 1 ? `${at}/jobs` : `${url}/jobs`,
    logs_url: `${url}/logs`,
    check_suite_url: `${repositoryApi}/check-suites/${id}`,
    artifacts_url: `${url}/artifacts`,
    cancel_url: `${url}/cancel`,
    rerun_url: `${url}/rerun`,
    previous_attempt_url: attempt.number > 1 ? `${url}/attempts/${attempt.number - 1}` : null,
    workflow_url: `${repositoryApi}/actions/workflows/${workflow.id}`,
    head_commit: {
      id: commit,
      tree_id: sha(commit),
      message: 'A commit',
      timestamp: time(repository.createdAt),
      author: { name: 'Octo Cat', email: 'octocat@example.com' },
      committer: { name: 'Octo Cat', email: 'octocat@example.com' },
    },
    repository: minimal,
    head_repository: minimal,
  }
}

export function runSite({ html }: Place, { id, repository }: Run): string {
  return `${html}/${repository.owner}/${repository.name}/actions/runs/${id}`
}

export function jobBody(place: Place, view: RunView, job: JobView, now: number) {
  const { run, attempt } = view
  const url = repositoryUrl(place, run.repository)
  const ended = job.endedAt <= now
  const started = job.startedAt <= now && job.steps.length > 0
  return {
    id: job.id,
    run_id: run.id,
    run_url: `${url}/actions/runs/${run.id}`,
    run_attempt: attempt.number,
    node_id: node('CheckRun', job.id),
    head_sha: sha(`${run.repository.id}:${run.ref}`),
    head_branch: run.ref,
    url: `${url}/actions/jobs/${job.id}`,
    html_url: `${runSite(place, run)}/job/${job.id}`,
    status: ended ? 'completed' : started ? 'in_progress' : isWaiting(job, now) ? 'waiting' : 'queued',
    conclusion: ended ? job.conclusion : null,
    created_at: time(Math.min(job.readyAt, now)),
    started_at: time(Math.min(job.startedAt, now)),
    completed_at: ended ? time(job.endedAt) : null,
    name: job.script.name,
    workflow_name: workflowName(run.workflow),
    steps: started ? job.steps.map((step) => stepBody(step, now)) : [],
    check_run_url: `${url}/check-runs/${job.id}`,
    labels: ['ubuntu-latest'],
    runner_id: started ? 1 : null,
    runner_name: started ? 'GitHub Actions 1' : null,
    runner_group_id: started ? 1 : null,
    runner_group_name: started ? 'GitHub Actions' : null,
  }
}

function stepBody({ script, number, startedAt, endedAt, conclusion }: StepView, now: number) {
  const ended = endedAt <= now
  return {
    name: script.name,
    number,
    status: ended ? 'completed' : startedAt <= now ? 'in_progress' : 'queued',
    conclusion: ended ? conclusion : null,
    started_at: startedAt <= now ? time(startedAt) : null,
    completed_at: ended ? time(endedAt) : null,
  }
}

export function artifactBody(
  place: Place,
  view: RunView,
  artifact: ArtifactScript,
  id: number,
  size: number,
) {
  const { run, updatedAt } = view
  const url = `${repositoryUrl(place, run.repository)}/actions/artifacts/${id}`
  return {
    id,
    node_id: node('Artifact', id),
    name: artifact.name,
    size_in_bytes: size,
    url,
    archive_download_url: `${url}/zip`,
    expired: artifact.expired ?? false,
    digest: null,
    created_at: time(updatedAt),
    updated_at: time(updatedAt),
    expires_at: time(updatedAt + 90 * 86_400_000),
    workflow_run: {
      id: run.id,
      repository_id: run.repository.id,
      head_repository_id: run.repository.id,
      head_branch: run.ref,
      head_sha: sha(`${run.repository.id}:${run.ref}`),
    },
  }
}

export function annotationBody(place: Place, { run }: RunView, annotation: AnnotationScript) {
  const { path, line, level = 'failure', title = null, message } = annotation
  const { owner, name } = run.repository
  return {
    path,
    start_line: line,
    end_line: line,
    start_column: null,
    end_column: null,
    annotation_level: level,
    title,
    message,
    raw_details: null,
    blob_href: `${place.html}/${owner}/${name}/blob/${sha(`${run.repository.id}:${run.ref}`)}/${path}`,
  }
}

function environmentBody(place: Place, { run }: RunView, { id, name }: Environment) {
  const { owner, name: repository } = run.repository
  return {
    id,
    node_id: node('Environment', id),
    name,
    url: `${repositoryUrl(place, run.repository)}/environments/${name}`,
    html_url: `${place.html}/${owner}/${repository}/deployments/activity_log?environments_filter=${name}`,
  }
}

export function pendingDeploymentBody(place: Place, view: RunView, environment: Environment, login: string) {
  return {
    environment: environmentBody(place, view, environment),
    wait_timer: 0,
    wait_timer_started_at: null,
    current_user_can_approve: environment.reviewers.includes(login),
    reviewers: environment.reviewers.map((reviewer) => ({
      type: 'User',
      reviewer: userBody(place, reviewer),
    })),
  }
}

export function reviewBody(place: Place, view: RunView, environment: Environment, review: Review) {
  const createdAt = time(view.run.repository.createdAt)
  return {
    environments: [
      { ...environmentBody(place, view, environment), created_at: createdAt, updated_at: createdAt },
    ],
    state: review.state,
    user: userBody(place, review.login),
    comment: review.comment,
  }
}

export function deploymentBody(place: Place, { run }: RunView, { id, name }: Environment, now: number) {
  const url = repositoryUrl(place, run.repository)
  return {
    url: `${url}/deployments/${id}`,
    id,
    node_id: node('Deployment', id),
    sha: sha(`${run.repository.id}:${run.ref}`),
    ref: run.ref,
    task: 'deploy',
    payload: {},
    original_environment: name,
    environment: name,
    description: null,
    creator: userBody(place, run.login),
    created_at: time(now),
    updated_at: time(now),
    statuses_url: `${url}/deployments/${id}/statuses`,
    repository_url: url,
  }
}
