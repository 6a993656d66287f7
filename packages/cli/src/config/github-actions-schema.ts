import * as z from 'zod'
import { text } from './fields.js'

const token = text('A token; best a reference to the environment')
const gh = z.literal(true).describe('Takes the token of the `gh` command for this host')

/** `engines.githubActions` */
export const githubActionsEngine = z
  .strictObject({
    token: token.optional(),
    app: z
      .strictObject({
        appId: z.union([z.int(), z.string().min(1)]).describe('The id of the App'),
        privateKey: text('Its private key as PEM; line breaks may be written as `\\n`'),
        installationId: z.coerce.number().int().describe('The id of its installation'),
      })
      .optional()
      .describe('A GitHub App; its tokens are made and renewed'),
    gh: gh.optional(),
    reviewer: z
      .strictObject({ token: token.optional(), gh: gh.optional() })
      .refine(one, 'name exactly one of `token`, `gh`')
      .optional()
      .describe(
        "A person's own token, to approve what waits for that person. An App can't. Default: none, so that `humanInput` stays off",
      ),
    baseUrl: z
      .url()
      .optional()
      .describe('`https://HOST/api/v3` of GitHub Enterprise Server. Default: `https://api.github.com`'),
    graceMs: z
      .int()
      .min(0)
      .optional()
      .describe(
        'For how long after its dispatch a run that GitHub does not show is taken to be on its way, in milliseconds. Default: 60000',
      ),
    readsPerSecond: z
      .number()
      .positive()
      .optional()
      .describe('Looks at runs a second that this process makes; a look is two requests. Default: 5'),
    pacing: z
      .boolean()
      .optional()
      .describe('Leaves a second between two writes, as GitHub advises. Default: true'),
    webhook: z
      .strictObject({
        secret: z.string().min(16).describe('The secret that the webhook was given on GitHub'),
        path: text('Where deliveries are taken').default('/webhooks/github'),
      })
      .optional()
      .describe('Takes deliveries of GitHub, so that tasks change at once. Default: none are taken'),
  })
  .refine((engine) => one({ token: engine.token, app: engine.app, gh: engine.gh }), {
    error: 'name exactly one of `token`, `app`, `gh`',
  })
  .describe('GitHub Actions. Exactly one credential is named; there is no fallback to another')

function one(credentials: Readonly<Record<string, unknown>>): boolean {
  return Object.values(credentials).filter((each) => each !== undefined).length === 1
}

/** `tools[].githubActions` */
export const githubActionsTool = z
  .strictObject({
    owner: text('The account'),
    repo: text('The repository'),
    workflow: text(
      'The file below `.github/workflows`, such as `deploy.yml`; `"*"` for a tool that watches runs of any',
    ),
    ref: z
      .union([z.string().min(1), z.array(z.string().min(1)).min(1)])
      .optional()
      .describe(
        'The branch or tag that runs; of several the call chooses one, and the first is the default. Default: the default branch',
      ),
    refArgument: text('The argument that chooses among several refs. Default: `ref`').optional(),
    runKeyInput: text(
      'The input that carries the run key, by which a run is found where its `run-name` shows it. Default: `runbridge_key`',
    ).optional(),
    repositoryDispatch: text(
      'Starts by a `repository_dispatch` of this type, with the arguments as payload. Default: by `workflow_dispatch`',
    ).optional(),
    resultArtifact: z
      .union([z.string().min(1), z.literal(false)])
      .optional()
      .describe(
        'The artifact whose JSON is the output; `false`: none is looked for. Default: `runbridge-result`',
      ),
    forceCancelAfterMs: z
      .union([z.int().min(0), z.literal(false)])
      .optional()
      .describe(
        'How long after a cancel the run is stopped by force, in milliseconds; `false`: never. Default: 300000',
      ),
  })
  .describe('The workflow file that a call starts')
