import { notAccessible, unprocessable } from '../errors.js'
import type { Environment } from '../repository.js'
import { lastAttempt, type Run } from '../run.js'
import { deploymentBody, pendingDeploymentBody, reviewBody } from '../run-bodies.js'
import { isWaiting, type RunView, viewOf } from '../timeline.js'
import { type Operation, ok } from './operation.js'
import { shownRun } from './runs.js'

export const getPendingDeployments: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/runs/{run_id}/pending_deployments',
  needs: ['actions', 'read'],
  answer(call) {
    const { state, token } = call
    const view = viewOf(shownRun(call), state.now())
    const login = token.kind === 'app' ? '' : token.login
    return ok(
      pendingIn(view, state.now()).map((each) => pendingDeploymentBody(state.place, view, each, login)),
    )
  },
}

export const reviewPendingDeployments: Operation = {
  method: 'POST',
  path: '/repos/{owner}/{repo}/actions/runs/{run_id}/pending_deployments',
  needs: ['deployments', 'write'],
  answer(call) {
    const { state, token, body } = call
    const run = shownRun(call)
    const now = state.now()
    const view = viewOf(run, now)
    const { environment_ids: ids, state: decision, comment } = body
    if (
      !Array.isArray(ids) ||
      (decision !== 'approved' && decision !== 'rejected') ||
      typeof comment !== 'string'
    ) {
      throw unprocessable('Invalid request.')
    }
    const pending = pendingIn(view, now).filter(({ id }) => ids.includes(id))
    if (pending.length < ids.length) {
      throw unprocessable('There are no pending deployment requests to approve or reject')
    }
    if (token.kind === 'app' || pending.some(({ reviewers }) => !reviewers.includes(token.login))) {
      throw notAccessible(token.kind ?? 'user')
    }
    const attempt = lastAttempt(run)
    for (const { name: environment } of pending) {
      attempt.reviews.push({ environment, state: decision, comment, login: token.login, at: now })
    }
    return ok(pending.map((environment) => deploymentBody(state.place, view, environment, now)))
  },
}

/** Of all attempts, newest first, as GitHub shows them. */
export const getReviews: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/runs/{run_id}/approvals',
  needs: ['actions', 'read'],
  answer(call) {
    const { state } = call
    const run = shownRun(call)
    const view = viewOf(run, state.now())
    return ok(
      reviewsOf(run).map(({ environment, review }) => reviewBody(state.place, view, environment, review)),
    )
  },
}

function reviewsOf({ attempts, repository }: Run) {
  return attempts
    .flatMap(({ reviews }) => reviews)
    .flatMap((review) => {
      const environment = repository.environments.find(({ name }) => name === review.environment)
      return environment ? [{ environment, review }] : []
    })
    .reverse()
}

function pendingIn(view: RunView, now: number): Environment[] {
  const names = view.jobs.filter((job) => isWaiting(job, now)).map(({ script }) => script.environment)
  return view.run.repository.environments.filter(({ name }) => names.includes(name))
}
