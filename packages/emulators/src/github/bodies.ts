import { createHash } from 'node:crypto'
import type { Repository, RepositoryWorkflow } from './repository.js'

/** Where links lead: the API and the site, without a slash at the end. */
export interface Place {
  readonly api: string
  readonly html: string
}

/** GitHub's times have no fractions of a second. */
export function time(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}

export function sha(text: string): string {
  return createHash('sha1').update(text).digest('hex')
}

export const node = (kind: string, id: number) => Buffer.from(`${kind}:${id}`).toString('base64')

/** An id that stays the same for a login. */
function userId(login: string): number {
  return Number.parseInt(sha(login).slice(0, 6), 16)
}

export function userBody({ api, html }: Place, login: string) {
  const url = `${api}/users/${login}`
  const id = userId(login)
  return {
    login,
    id,
    node_id: node('User', id),
    avatar_url: `${html}/avatars/${id}`,
    gravatar_id: '',
    url,
    html_url: `${html}/${login}`,
    followers_url: `${url}/followers`,
    following_url: `${url}/following{/other_user}`,
    gists_url: `${url}/gists{/gist_id}`,
    starred_url: `${url}/starred{/owner}{/repo}`,
    subscriptions_url: `${url}/subscriptions`,
    organizations_url: `${url}/orgs`,
    repos_url: `${url}/repos`,
    events_url: `${url}/events{/privacy}`,
    received_events_url: `${url}/received_events`,
    type: 'User',
    site_admin: false,
  }
}

const REPOSITORY_LINKS = {
  archive_url: '/{archive_format}{/ref}',
  assignees_url: '/assignees{/user}',
  blobs_url: '/git/blobs{/sha}',
  branches_url: '/branches{/branch}',
  collaborators_url: '/collaborators{/collaborator}',
  comments_url: '/comments{/number}',
  commits_url: '/commits{/sha}',
  compare_url: '/compare/{base}...{head}',
  contents_url: '/contents/{+path}',
  contributors_url: '/contributors',
  deployments_url: '/deployments',
  downloads_url: '/downloads',
  events_url: '/events',
  forks_url: '/forks',
  git_commits_url: '/git/commits{/sha}',
  git_refs_url: '/git/refs{/sha}',
  git_tags_url: '/git/tags{/sha}',
  hooks_url: '/hooks',
  issue_comment_url: '/issues/comments{/number}',
  issue_events_url: '/issues/events{/number}',
  issues_url: '/issues{/number}',
  keys_url: '/keys{/key_id}',
  labels_url: '/labels{/name}',
  languages_url: '/languages',
  merges_url: '/merges',
  milestones_url: '/milestones{/number}',
  notifications_url: '/notifications{?since,all,participating}',
  pulls_url: '/pulls{/number}',
  releases_url: '/releases{/id}',
  stargazers_url: '/stargazers',
  statuses_url: '/statuses/{sha}',
  subscribers_url: '/subscribers',
  subscription_url: '/subscription',
  tags_url: '/tags',
  teams_url: '/teams',
  trees_url: '/git/trees{/sha}',
}

export function repositoryUrl({ api }: Place, { owner, name }: Repository): string {
  return `${api}/repos/${owner}/${name}`
}

export function minimalRepositoryBody(place: Place, repository: Repository) {
  const { id, owner, name } = repository
  const url = repositoryUrl(place, repository)
  return {
    id,
    node_id: node('Repository', id),
    name,
    full_name: `${owner}/${name}`,
    owner: userBody(place, owner),
    private: true,
    html_url: `${place.html}/${owner}/${name}`,
    description: null,
    fork: false,
    url,
    ...Object.fromEntries(Object.entries(REPOSITORY_LINKS).map(([key, path]) => [key, url + path])),
  }
}

export function repositoryBody(place: Place, repository: Repository) {
  const { owner, name, defaultBranch, createdAt } = repository
  const site = `${place.html}/${owner}/${name}`
  return {
    ...minimalRepositoryBody(place, repository),
    default_branch: defaultBranch,
    clone_url: `${site}.git`,
    git_url: `git://github.test/${owner}/${name}.git`,
    ssh_url: `git@github.test:${owner}/${name}.git`,
    svn_url: site,
    mirror_url: null,
    homepage: null,
    language: null,
    license: null,
    forks: 0,
    forks_count: 0,
    stargazers_count: 0,
    watchers: 0,
    watchers_count: 0,
    subscribers_count: 0,
    network_count: 0,
    open_issues: 0,
    open_issues_count: 0,
    size: 1,
    has_issues: true,
    has_projects: false,
    has_wiki: false,
    has_pages: false,
    has_downloads: true,
    has_discussions: false,
    archived: false,
    disabled: false,
    created_at: time(createdAt),
    updated_at: time(createdAt),
    pushed_at: time(createdAt),
  }
}

export function workflowBody(place: Place, repository: Repository, workflow: RepositoryWorkflow) {
  const { id, fileName, state = 'active' } = workflow
  const site = `${place.html}/${repository.owner}/${repository.name}`
  return {
    id,
    node_id: node('Workflow', id),
    name: workflowName(workflow),
    path: `.github/workflows/${fileName}`,
    state,
    created_at: time(repository.createdAt),
    updated_at: time(repository.createdAt),
    url: `${repositoryUrl(place, repository)}/actions/workflows/${id}`,
    html_url: `${site}/blob/${repository.defaultBranch}/.github/workflows/${fileName}`,
    badge_url: `${site}/workflows/${encodeURIComponent(workflowName(workflow))}/badge.svg`,
  }
}

/** The name in the workflow file, or the file's own. */
export function workflowName({ file, fileName }: RepositoryWorkflow): string {
  const text = typeof file === 'string' ? file : (Object.values(file)[0] ?? '')
  return /^name: *['"]?(.+?)['"]? *$/m.exec(text)?.[1] ?? fileName.replace(/\.ya?ml$/, '')
}
