import { execFile } from 'node:child_process'
import { RunbridgeError } from '@runbridge/core'

/** Where a credential comes from. Exactly one is named; there is no fallback from one to another. */
export type GitHubCredentials =
  /** A personal access token or one of an installation that somebody else renews. */
  | { readonly token: string }
  /** A GitHub App on one installation; its tokens are made and renewed here. `privateKey` is PEM. */
  | {
      readonly app: {
        readonly appId: string | number
        readonly privateKey: string
        readonly installationId: number
      }
    }
  /** What the `gh` command has for this host, asked for once. */
  | { readonly gh: true }

/** The token of the `gh` command: https://cli.github.com/manual/gh_auth_token */
export function tokenOfGh(host: string, command = 'gh'): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, ['auth', 'token', '--hostname', host], { timeout: 10_000 }, (cause, stdout) => {
      const token = stdout.trim()
      if (cause === null && token !== '') return resolve(token)
      const message = `\`${command} auth token --hostname ${host}\` gave no token; log in with \`gh auth login\`, or configure a token.`
      // The cause may hold what the command printed, so it stays out.
      reject(new RunbridgeError('unauthenticated', message))
    })
  })
}
