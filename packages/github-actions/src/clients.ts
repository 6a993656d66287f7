import { createAppAuth } from '@octokit/auth-app'
import { throttling } from '@octokit/plugin-throttling'
import { Octokit } from '@octokit/rest'
import { RunbridgeError } from '@runbridge/core'
import { type GitHubCredentials, tokenOfGh } from './credentials.js'

/** All that is needed of Octokit. */
export type GitHubClient = Pick<Octokit, 'request'>

/** One client a purpose, so that polls and their queue never delay a start, a cancel or an answer. */
export interface GitHubClients {
  readonly reads: GitHubClient
  /** Dispatches and cancels: must send each request once. */
  readonly writes: GitHubClient
  /** A person's own token, for reviews of deployments and of runs from forks. Default: nothing is asked of people. */
  readonly reviewer?: GitHubClient | undefined
  /** The host of the site, as in links to runs: `github.com`. */
  readonly host: string
}

export interface GitHubClientsOptions {
  readonly credentials: GitHubCredentials
  /** A reviewer's own token, since an App may not review. Default: none, so that gates are off. */
  readonly reviewer?: GitHubCredentials | undefined
  /** `https://HOST/api/v3` for GitHub Enterprise Server. Default `https://api.github.com`. */
  readonly baseUrl?: string | undefined
  /** Paces requests as GitHub advises: a second between writes, ten at a time. Default true. */
  readonly pacing?: boolean | undefined
}

const PUBLIC_API = 'https://api.github.com'

const ThrottledOctokit = Octokit.plugin(throttling)
let lastQueue = 0

/** The clients, with the token of `gh` read now where that is what is configured. */
export async function createGitHubClients(options: GitHubClientsOptions): Promise<GitHubClients> {
  const { credentials, reviewer, baseUrl = PUBLIC_API, pacing = true } = options
  const host = siteHost(baseUrl)
  const auth = await authOf(credentials, host)
  const client = (own: object) => octokit(own, baseUrl, pacing)
  return {
    reads: client(auth),
    writes: client(auth),
    ...(reviewer && { reviewer: client(await authOf(reviewer, host)) }),
    host,
  }
}

/**
 * No retry plugin: it sends a dispatch again that was answered 502, and every look at a run is repeated by the next
 * one anyway. What is limited is never sent again from here either.
 */
function octokit(auth: object, baseUrl: string, pacing: boolean): GitHubClient {
  lastQueue += 1
  return new ThrottledOctokit({
    ...auth,
    baseUrl,
    userAgent: 'runbridge',
    // Octokit writes deprecations of the API to the console, which belongs to the protocol on stdio.
    log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
    throttle: {
      enabled: pacing,
      id: `runbridge-${lastQueue}`,
      onRateLimit: () => false,
      onSecondaryRateLimit: () => false,
    },
  })
}

function nothing(): void {}

async function authOf(credentials: GitHubCredentials, host: string): Promise<object> {
  if ('token' in credentials) return { auth: credentials.token }
  if ('gh' in credentials) return { auth: await tokenOfGh(host) }
  return { authStrategy: createAppAuth, auth: { ...credentials.app } }
}

/** GitHub Enterprise Server has site and API on one host. */
function siteHost(baseUrl: string): string {
  if (!URL.canParse(baseUrl)) {
    throw new RunbridgeError('misconfigured', `baseUrl ${JSON.stringify(baseUrl)} is no URL.`)
  }
  const { protocol, hostname, host } = new URL(baseUrl)
  const here = ['127.0.0.1', 'localhost', '[::1]'].includes(hostname)
  if (protocol !== 'https:' && !(protocol === 'http:' && here)) {
    throw new RunbridgeError(
      'misconfigured',
      'baseUrl must be https, since a token goes there; http is for loopback addresses alone.',
    )
  }
  return baseUrl === PUBLIC_API ? 'github.com' : host
}
