import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

const START_MS = 60_000

/**
 * Starts a server of others with everything it writes in a folder of its own, and waits until it answers. The way to end
 * it removes the folder. Throws with what it printed where it does not come up.
 * @param {string} command @param {readonly string[]} args
 * @param {{ name: string, folder: string, env: NodeJS.ProcessEnv, answers: () => Promise<boolean> }} options
 * @returns {Promise<() => Promise<void>>}
 */
export async function startForeign(command, args, { name, folder, env, answers }) {
  const child = spawn(command, args, {
    cwd: folder,
    env: { HOME: folder, TMPDIR: folder, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (piece) => {
      printed = (printed + piece).slice(-5000)
    })
  }
  const exited = once(child, 'exit')
  const close = async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGTERM')
      const killer = setTimeout(() => child.kill('SIGKILL'), 5_000)
      await exited
      clearTimeout(killer)
    }
    rmSync(folder, { recursive: true, force: true })
  }
  const until = Date.now() + START_MS
  while (!(await answers().catch(() => false))) {
    if (child.exitCode !== null || Date.now() > until) {
      await close()
      throw new Error(`${name} did not come up. It printed:\n${printed}`)
    }
    await pause(100)
  }
  return close
}
