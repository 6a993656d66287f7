// biome-ignore-all lint/suspicious/noTemplateCurlyInString: these are references in the files under test
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEFAULT_LIMITS, TOOL_DEFAULTS } from '@runbridge/server'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfig, parseConfig } from './config.js'
import { problemList } from './parse-config.js'

const ARN = 'arn:aws:states:eu-west-1:123456789012:stateMachine:Deploy'

const tool = (lines: string) => `tools:
  - name: deploy
    stepFunctions: { stateMachineArn: "${ARN}" }
${lines
  .split('\n')
  .map((line) => `    ${line}`)
  .join('\n')}
`

/** Each problem as `line:column path: message`, the way a person meets it. */
function problems(text: string, env: Record<string, string> = {}): string[] {
  const result = parseConfig(text, env)
  if (result.ok) return []
  return result.problems.map(
    ({ line, column, path, message }) => `${line}:${column} ${path ?? '-'}: ${message}`,
  )
}

function config(text: string, env: Record<string, string> = {}) {
  const result = parseConfig(text, env)
  if (!result.ok) throw new Error(problemList('test.yaml', result.problems))
  return result.config
}

describe('a right file', () => {
  it('needs no more than one tool and its state machine', () => {
    expect(config(tool(''))).toEqual({
      server: {
        host: '127.0.0.1',
        port: 8080,
        name: 'runbridge',
        logLevel: 'info',
        audit: true,
        limits: DEFAULT_LIMITS,
      },
      store: { sqlite: { path: '.runbridge/tasks.sqlite' } },
      engines: { stepFunctions: {}, googleWorkflows: {} },
      tools: [{ name: 'deploy', stepFunctions: { stateMachineArn: ARN }, attach: false, ...TOOL_DEFAULTS }],
    })
  })

  it('reads off as a word and not as false', () => {
    expect(config(tool('humanInput: off')).tools[0]?.humanInput).toBe('off')
  })
})

describe('a wrong file says where, which rule and what to write instead', () => {
  const table: [what: string, text: string, expected: string[]][] = [
    ['nothing at all', '', ['1:1 tools: is missing: the tools']],
    ['a list', '- deploy', ['1:1 (file): is a list; write `tools:`, with the tools below it']],
    [
      'an empty credential',
      `engines: { githubActions: { token: "" } }\n${tool('')}`,
      ['1:36 engines.githubActions.token: is empty: a token; best a reference to the environment'],
    ],
    [
      'a few lines that stand for millions',
      [
        'a: &a [x,x,x,x,x,x,x,x,x]',
        ...[...'bcdefgh'].map((key, index) => `${key}: &${key} [${Array(9).fill(`*${'abcdefg'[index]}`)}]`),
      ].join('\n'),
      ['1:1 -: has too many references (`*name`); write them out'],
    ],
    [
      'no YAML',
      'tools: [',
      ['1:9 -: Flow sequence in block collection must be sufficiently indented and end with a ]'],
    ],
    [
      'an unknown key close to a known one',
      tool('tasksupport: optional'),
      ['4:5 tools[0].tasksupport: unknown key; did you mean `taskSupport`?'],
    ],
    [
      'an unknown key close to none',
      `sever: {}\nzebra: 1\n${tool('')}`,
      [
        '1:1 sever: unknown key; did you mean `server`?',
        '2:1 zebra: unknown key; known here: server, store, engines, tools',
      ],
    ],
    ['the same key twice', `${tool('')}tools: []\n`, ['5:1 -: Map keys must be unique']],
    [
      'a missing key',
      'tools:\n  - stepFunctions: {}\n',
      [
        '2:5 tools[0].name: is missing: the name that agents call: 1 to 128 of `A-Z a-z 0-9 _ - .`',
        '2:20 tools[0].stepFunctions.stateMachineArn: is missing: the state machine, with `:VERSION` or `:ALIAS` behind it if you want one of them',
      ],
    ],
    [
      'a wrong option',
      tool('taskSupport: require\nhumanInput: yes'),
      [
        '4:18 tools[0].taskSupport: must be one of forbidden, optional, required; did you mean `required`?',
        '5:17 tools[0].humanInput: must be one of off, elicitation, model',
      ],
    ],
    [
      'a duration with a unit',
      tool('holdMs: 45s'),
      ['4:13 tools[0].holdMs: is a string; write milliseconds, such as 45000'],
    ],
    [
      'a negative duration',
      tool('retainMs: -1'),
      ['4:15 tools[0].retainMs: too small: expected number to be >=0'],
    ],
    ['a number for a string', tool('title: 12'), ['4:12 tools[0].title: is a number; put quotes around it']],
    [
      'an object left empty',
      `store:\n  memory:\n${tool('')}`,
      ['2:10 store.memory: is empty; write an object, such as `memory: {}`'],
    ],
    [
      'two stores',
      `store: { memory: {}, sqlite: {} }\n${tool('')}`,
      ['1:8 store: name exactly one store: `sqlite`, `postgres`, `dynamodb`, `sealed` or `memory`'],
    ],
    ['no tools', 'tools: []\n', ['1:8 tools: name at least one tool']],
    [
      'a name that the protocol has no letters for',
      `tools: [{ name: "deploy it", stepFunctions: { stateMachineArn: "${ARN}" } }]`,
      ['1:17 tools[0].name: use 1 to 128 of the characters A-Z a-z 0-9 _ - .'],
    ],
    [
      'a name that is taken',
      `${tool('')}  - { name: deploy, stepFunctions: { stateMachineArn: ${ARN} } }\n`,
      ['5:13 tools[1].name: is the name of tools[0] too; choose another'],
    ],
    [
      'gates that nobody may answer',
      `tools:\n  - name: deploy\n    stepFunctions:\n      stateMachineArn: ${ARN}\n      gates: { Approve: { prompt: OK? } }\n`,
      [
        '5:7 tools[0].stepFunctions.gates: has no effect: write `humanInput: elicitation` (a person answers) or `model`, or remove it',
      ],
    ],
    [
      'what is no state machine',
      'tools: [{ name: a, stepFunctions: { stateMachineArn: PlaceOrder } }]',
      [
        '1:54 tools[0].stepFunctions.stateMachineArn: is not the ARN of a state machine; write arn:aws:states:REGION:ACCOUNT:stateMachine:NAME, with :VERSION or :ALIAS behind it if you want one.',
      ],
    ],
    [
      'a gate with a key that is none',
      `tools:\n  - name: deploy\n    humanInput: model\n    stepFunctions:\n      stateMachineArn: ${ARN}\n      gates: { Approve: { promt: OK? }, Token: false }\n`,
      ['6:27 tools[0].stepFunctions.gates.Approve.promt: unknown key; did you mean `prompt`?'],
    ],
    [
      'a form with nested fields',
      `tools:\n  - name: deploy\n    humanInput: model\n    stepFunctions:\n      stateMachineArn: ${ARN}\n      gates: { Approve: { schema: { type: object, properties: { a: { type: object } } } } }\n`,
      [
        '6:68 tools[0].stepFunctions.gates.Approve.schema.properties.a: must be a string, number, integer or boolean: forms have no nested fields',
      ],
    ],
    [
      'a person asked by a tool that has no task',
      tool('humanInput: model\ntaskSupport: forbidden'),
      [
        '4:17 tools[0].humanInput: needs a task to ask in: write `taskSupport: optional` or `required`, or `humanInput: off`',
      ],
    ],
    [
      'arguments that are no object',
      tool('input: { type: string }\noutput: {}'),
      [
        '4:12 tools[0].input: must describe an object: write `type: object` at its top',
        '5:13 tools[0].output: must describe an object: write `type: object` at its top',
      ],
    ],
    [
      'questions about arguments that are not there',
      tool(
        'input: { type: object, properties: { version: { type: string }, tags: { type: array } }, required: [tags] }\n' +
          'confirm: { message: "Deploy {versoin}?" }\naskFor: { version: { message: Which? }, tags: { message: Which? }, x: { message: Which? } }',
      ),
      [
        '5:25 tools[0].confirm.message: names no argument of this tool; did you mean `version`?',
        '6:15 tools[0].askFor.version: is optional: name it in `input.required` to have it asked',
        '6:45 tools[0].askFor.tags: can’t be asked for: only strings, numbers and booleans can',
        '6:72 tools[0].askFor.x: is no argument of this tool; name it in `input.properties`',
      ],
    ],
    [
      'two engines for one tool',
      tool('googleWorkflows: { project: p, location: l, workflow: w }'),
      [
        '2:5 tools[0]: names no workflow, or several: write exactly one of `stepFunctions`, `googleWorkflows`, `githubActions`',
      ],
    ],
    [
      'a Google workflow that can be none, and gates that nobody answers',
      'tools:\n  - name: a\n    googleWorkflows: { project: p, location: l, workflow: "1w", gates: { ask: {} } }\n',
      [
        '3:22 tools[0].googleWorkflows: is not the name of a workflow; write projects/PROJECT/locations/LOCATION/workflows/WORKFLOW.',
        '3:65 tools[0].googleWorkflows.gates: has no effect: write `humanInput: elicitation` (a person answers) or `model`, or remove it',
      ],
    ],
    [
      'a Google workflow whose steps to ask at are not named',
      'tools:\n  - name: a\n    googleWorkflows: { project: p, location: l, workflow: w }\n    humanInput: elicitation\n',
      [
        '4:17 tools[0].humanInput: needs steps to ask at: name them in `googleWorkflows.gates`, or write `humanInput: off`',
      ],
    ],
    [
      'a GitHub workflow that can be none',
      'tools:\n  - name: a\n    githubActions: { owner: octo, repo: shop, workflow: ../ci.yml }\n',
      [
        "3:20 tools[0].githubActions: names no workflow; write owner/repo/file.yml, with the file's name below .github/workflows.",
      ],
    ],
    [
      'GitHub with no credential',
      `engines: { githubActions: {} }\n${tool('')}`,
      ['1:27 engines.githubActions: name exactly one of `token`, `app`, `gh`'],
    ],
    [
      'GitHub with two credentials, and a reviewer that is none',
      `engines: { githubActions: { token: t, gh: true, reviewer: {} } }\n${tool('')}`,
      [
        '1:27 engines.githubActions: name exactly one of `token`, `app`, `gh`',
        '1:59 engines.githubActions.reviewer: name exactly one of `token`, `gh`',
      ],
    ],
    [
      'several at once, one tool hiding nothing of the next',
      `server: { port: 99999999 }\ntools:\n  - { name: 1 }\n  - { name: b, stepFunctions: { stateMachineArn: ${ARN} }, input: { type: array } }\n`,
      [
        '1:17 server.port: too big: expected number to be <=65535',
        '3:5 tools[0]: names no workflow, or several: write exactly one of `stepFunctions`, `googleWorkflows`, `githubActions`',
        '3:13 tools[0].name: is a number; put quotes around it',
        '4:118 tools[1].input: must describe an object: write `type: object` at its top',
      ],
    ],
  ]
  it.each(table)('%s', (_, text, expected) => {
    expect(problems(text)).toEqual(expected)
  })
})

describe('references to the environment', () => {
  it('stand for a part of a value or for all of it', () => {
    const text = tool(`title: "\${STAGE} deploy to \${REGION:-eu-west-1}"`)
    expect(config(text, { STAGE: 'prod' }).tools[0]?.title).toBe('prod deploy to eu-west-1')
  })

  it('take the default when the variable is empty', () => {
    expect(config(tool(`title: \${T:-none}`), { T: '' }).tools[0]?.title).toBe('none')
  })

  it('are numbers and booleans where they read as such, unless quoted', () => {
    const text = `server:\n  port: \${PORT}\n  name: "\${PORT}"\n${tool('title: ${ID}\nprogress: ${P}')}`
    const read = config(text, { PORT: '9000', ID: '007', P: 'false' })
    expect(read.server).toMatchObject({ port: 9000, name: '9000' })
    expect(read.tools[0]).toMatchObject({ title: '007', progress: false })
  })

  it('never turn into anything but a scalar', () => {
    expect(config(tool('title: ${T}'), { T: '{a: 1}' }).tools[0]?.title).toBe('{a: 1}')
  })

  it('are literal behind a second dollar sign', () => {
    expect(config(tool('title: "$${T} costs $5"')).tools[0]?.title).toBe('${T} costs $5')
  })

  it('name the variable when it is not set, once and beside all other problems', () => {
    expect(
      problems(`server:\n  port: \${PORT}\n  secret: \${KEY}\n${tool('titel: x')}`, { KEY: 'short' }),
    ).toEqual([
      '2:9 server.port: the environment variable PORT is not set: set it, or write `${PORT:-default}`',
      '3:11 server.secret: too small: expected string to have >=32 characters',
      '7:5 tools[0].titel: unknown key; did you mean `title`?',
    ])
  })

  it('are refused in the default of another, where they would stand as text', () => {
    expect(problems(tool('title: "${A:-${B}}"'), { B: 'b' })).toEqual([
      '4:12 tools[0].title: the default of A holds another reference, which is not looked up: write a plain text',
    ])
  })

  it('are refused when they are malformed', () => {
    expect(problems(tool('title: "${1}"'))).toEqual([
      '4:12 tools[0].title: malformed reference: write `${NAME}` or `${NAME:-default}`, or `$${` for `${`',
    ])
  })

  it('show no value in a problem', () => {
    const text = tool('taskSupport: ${SECRET}\nholdMs: ${SECRET}\nprogress: "${SECRET}"')
    expect(problems(text, { SECRET: 'hunter2-and-more' }).join()).not.toContain('hunter2')
  })
})

describe('a file on disk', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'runbridge-config-'))
  })
  afterEach(() => rm(folder, { recursive: true }))

  it('gives relative paths from its own folder', async () => {
    const file = join(folder, 'runbridge.yaml')
    await writeFile(file, tool(''))
    expect((await loadConfig(file, {})).store).toEqual({
      sqlite: { path: join(folder, '.runbridge/tasks.sqlite') },
    })
  })

  it('lists its problems one a line', async () => {
    const file = join(folder, 'runbridge.yaml')
    await writeFile(file, 'tools: []\nstores: {}\n')
    await expect(loadConfig(file, {})).rejects.toMatchObject({
      code: 'misconfigured',
      message: `${file} has 2 problems:\n  ${file}:1:8  tools: name at least one tool\n  ${file}:2:1  stores: unknown key; did you mean \`store\`?`,
    })
  })

  it('that is not there is named', async () => {
    const file = join(folder, 'none.yaml')
    await expect(loadConfig(file, {})).rejects.toMatchObject({
      code: 'misconfigured',
      message: `${file}: there is no such file; name one with --config`,
    })
  })
})
