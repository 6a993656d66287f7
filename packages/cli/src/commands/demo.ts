import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { RunbridgeError } from '@runbridge/core'
import { serveHttp } from '@runbridge/server'
import { compose } from '../compose.js'
import { parseConfig } from '../config/config.js'
import { problemList } from '../config/parse-config.js'
import type { Config } from '../config/schema.js'
import { startDemoEngine } from '../demo/engine.js'
import { startDemoGitHub } from '../demo/github.js'
import { startDemoGoogle } from '../demo/google.js'
import { openTheatre } from '../demo/play-scene.js'
import { SCENES } from '../demo/scenes.js'
import { createLog } from '../log.js'
import { EXIT } from './exit.js'
import type { Io } from './io.js'

const configFile = fileURLToPath(new URL('../../demo/runbridge.yaml', import.meta.url))

/** Of the workflows: fast enough for all of them, slow enough to be followed. */
const PACE = 0.6

/** Longer than everything together takes; a demo that hangs is a failed one. In ms. */
const LIMIT_MS = 28_000

/**
 * Runs workflows of three engines as tasks: embedded engines, server and official client over real sockets in this
 * process. Ok only if every one of them went as it should.
 */
export async function demo(options: { readonly signal: AbortSignal }, io: Io): Promise<number> {
  const signal = AbortSignal.any([options.signal, AbortSignal.timeout(LIMIT_MS)])
  const cleanups: (() => Promise<void>)[] = []
  try {
    const untilStopped: Io = {
      out: (text) => signal.aborted || io.out(text),
      err: (text) => signal.aborted || io.err(text),
    }
    const played = play(cleanups, signal, untilStopped)
    return await Promise.race([played, rejection(signal)])
  } finally {
    for (const cleanup of cleanups.reverse()) await cleanup()
  }
}

async function play(cleanups: (() => Promise<void>)[], signal: AbortSignal, io: Io): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'runbridge-demo-'))
  cleanups.push(() => rm(folder, { recursive: true, force: true }))
  const engine = await startDemoEngine(PACE)
  cleanups.push(() => engine.close())
  const google = await startDemoGoogle(PACE)
  cleanups.push(() => google.close())
  const github = await startDemoGitHub(PACE)
  cleanups.push(() => github.close())
  const config = await demoConfig({
    DEMO_FOLDER: folder,
    DEMO_ENGINE: engine.url,
    DEMO_GOOGLE: google.url,
    DEMO_GITHUB: github.url,
  })
  const composition = await compose(config, {
    log: createLog(config.server.logLevel),
    signal,
    awsCredentials: { accessKeyId: 'local', secretAccessKey: 'local' },
  })
  cleanups.push(() => composition.close())
  const http = await serveHttp({ server: composition.server, port: config.server.port })
  cleanups.push(() => http.close())
  io.out('Workflows of three engines as MCP tasks. Everything runs in this process, over real sockets.\n')
  io.out(`  engine  ${engine.url}  speaks the Step Functions API`)
  io.out(`  engine  ${google.url}  speaks the Google Cloud Workflows API, on gRPC and REST`)
  io.out(`  engine  ${github.url}  speaks the GitHub Actions API`)
  io.out(`  server  ${http.url}  speaks MCP 2026-07-28 with tasks`)
  io.out('  client  @modelcontextprotocol/client with @modelcontextprotocol/ext-tasks')

  const theatre = await openTheatre(http.url, io)
  cleanups.push(() => theatre.close())

  const problems: string[] = []
  for (const [index, scene] of SCENES.entries()) {
    signal.throwIfAborted()
    const problem = await theatre.play(scene, index + 1)
    if (problem !== undefined) problems.push(problem)
  }
  io.out('')
  for (const problem of problems) io.err(`Not as it should be: ${problem}`)
  if (problems.length > 0) return EXIT.failed
  io.out(
    'All as it should be: an order shipped, a deploy approved, a batch and a test that failed where they had to, a manual and a release published.',
  )
  return EXIT.ok
}

async function demoConfig(env: Record<string, string>): Promise<Config> {
  const result = parseConfig(await readFile(configFile, 'utf8'), env)
  if (result.ok) return result.config
  throw new RunbridgeError('internal', problemList(configFile, result.problems))
}

function rejection(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const stop = () => {
      const tooLate = signal.reason instanceof DOMException && signal.reason.name === 'TimeoutError'
      const why = tooLate ? `It did not end within ${LIMIT_MS / 1000} s.` : 'It was stopped.'
      reject(new RunbridgeError('unavailable', `The demo is incomplete. ${why}`))
    }
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
}
