import { afterEach, describe, expect, it, vi } from 'vitest'
import { EXIT } from './commands/exit.js'
import { program } from './program.js'
import { version } from './version.js'

function run(...args: string[]) {
  return program(['node', 'runbridge', ...args], { out: () => {}, err: () => {} })
}

/** commander itself writes to the process's streams. */
function captured() {
  const written: string[] = []
  for (const stream of [process.stdout, process.stderr]) {
    vi.spyOn(stream, 'write').mockImplementation((text) => written.push(String(text)) > 0)
  }
  return () => written.join('')
}
afterEach(() => vi.restoreAllMocks())

describe('the command line', () => {
  it.each([
    [['frobnicate'], "unknown command 'frobnicate'"],
    [['serve', '--port', 'http'], 'Write a number from 0 to 65535.'],
    [['serve', '--port', '70000'], 'Write a number from 0 to 65535.'],
    [['serve', '--stdio', '--port', '0'], "'--stdio' cannot be used with option '-p, --port <port>'"],
    [['call'], "missing required argument 'tool'"],
    [['tasks', 'get', 'a', '--json'], "unknown option '--json'"],
  ])('%j is refused with status 2', async (args, message) => {
    const output = captured()
    expect(await run(...args)).toBe(EXIT.usage)
    expect(output()).toContain(message)
  })

  it('tells its version and its commands with status 0', async () => {
    const output = captured()
    expect(await run('--version')).toBe(EXIT.ok)
    expect(await run('--help')).toBe(EXIT.ok)
    expect(output()).toContain(version)
    for (const command of ['serve', 'check', 'demo', 'call', 'tasks'])
      expect(output()).toContain(`  ${command}`)
  })

  it.each([
    [['call', 'greet', '--args', '{'], '--args is no JSON'],
    [['call', 'greet', '--args', '[]'], '--args must be a JSON object'],
    [['tasks', 'answer', 'tsk_1'], 'Say --accept JSON or --decline'],
    [['tasks', 'get', 'tsk_1', '--url', 'here'], '"here" is no URL'],
  ])('%j says what to write instead', async (args, message) => {
    await expect(run(...args)).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining(message),
    })
  })
})
