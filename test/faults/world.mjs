import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { startStepFunctionsEmulator } from '@runbridge/emulators/step-functions'
import { root } from '../bin/command.mjs'
import { openStore } from './stores.mjs'

const MACHINES = {
  succeeds: {
    StartAt: 'Work',
    States: { Work: { Type: 'Wait', Seconds: 1, Next: 'Done' }, Done: { Type: 'Pass', End: true } },
  },
  lasts: { StartAt: 'Work', States: { Work: { Type: 'Wait', Seconds: 600, End: true } } },
  fails: {
    StartAt: 'Work',
    States: {
      Work: { Type: 'Wait', Seconds: 1, Next: 'Stop' },
      Stop: { Type: 'Fail', Error: 'Wrong', Cause: 'on purpose' },
    },
  },
}

/**
 * An engine, a store, and server processes that come and go.
 * @param {import('./stores.mjs').SharedStore} shared
 */
export async function createWorld(shared) {
  const engine = await startStepFunctionsEmulator({ stateMachines: MACHINES })
  const store = await openStore(shared)
  /** @type {import('node:child_process').ChildProcess[]} */
  const children = []
  const tools = [
    { name: 'succeeds', stateMachineArn: engine.stateMachineArn('succeeds') },
    { name: 'lasts', stateMachineArn: engine.stateMachineArn('lasts') },
    { name: 'fails', stateMachineArn: engine.stateMachineArn('fails') },
    { name: 'confirmed', stateMachineArn: engine.stateMachineArn('succeeds'), confirm: 'Really?' },
    { name: 'keyed', stateMachineArn: engine.stateMachineArn('lasts'), idempotencyKey: ['order'] },
    {
      name: 'confirmed_keyed',
      stateMachineArn: engine.stateMachineArn('lasts'),
      confirm: 'Really?',
      idempotencyKey: ['order'],
    },
  ]

  return {
    engine,
    store,
    /**
     * @param {{ step: string, nth: number }} [crash]
     * @returns {Promise<{ url: string, diesBy: (deadline: number) => Promise<boolean> }>} whether it died as told;
     *   one that did not is ended
     */
    async serve(crash) {
      const options = JSON.stringify({ shared, endpoint: engine.url, tools, crash })
      const child = spawn(process.execPath, ['test/faults/server.mjs', options], {
        cwd: root,
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      children.push(child)
      let printed = ''
      child.stderr.setEncoding('utf8').on('data', (text) => {
        printed += text
      })
      const died = once(child, 'exit').then(([, signal]) => signal)
      const url = await new Promise((resolve, reject) => {
        child.stdout.setEncoding('utf8').once('data', (text) => resolve(text.trim()))
        died.then(() => reject(new Error(`The server did not start:\n${printed}`)))
      })
      return {
        url,
        async diesBy(deadline) {
          const late = setTimeout(() => child.kill('SIGTERM'), deadline - Date.now())
          const signal = await died
          clearTimeout(late)
          return signal === 'SIGKILL'
        },
      }
    },
    async close() {
      for (const child of children) {
        if (child.exitCode !== null || child.signalCode !== null) continue
        child.kill('SIGKILL')
        await once(child, 'exit')
      }
      await store.close()
      await engine.close()
    },
  }
}
