import type { ApplicationElicitResult } from '@modelcontextprotocol/ext-tasks/client'
import { type Connection, connect, type ElicitationQuestion } from '../client/connect.js'
import { runTool } from '../client/run-tool.js'
import type { Io } from '../commands/io.js'
import { type Scene, sceneProblem } from './scenes.js'

export interface Theatre {
  /** Plays a scene and prints it; says what did not go as it should. */
  play(scene: Scene, number: number): Promise<string | undefined>
  close(): Promise<void>
}

/** Connects the official client, with a person who answers as the scene says. */
export async function openTheatre(url: string, io: Io): Promise<Theatre> {
  let present: Playing | undefined
  const line = (label: string, text: string) => io.out(`   ${label.padEnd(9)}${text}`)
  const state = (status: string, text: string) => {
    const seconds = (performance.now() - (present?.started ?? 0)) / 1000
    line(`${seconds.toFixed(1)} s`, `${status.padEnd(15)} ${text}`)
  }

  async function onQuestion({ message }: ElicitationQuestion): Promise<ApplicationElicitResult> {
    const answer = present?.scene.answer ?? { action: 'decline' }
    if (present) present.asked += 1
    state('input_required', message)
    line(
      'answer',
      [answer.action, answer.content && JSON.stringify(answer.content)].filter(Boolean).join(' '),
    )
    return answer
  }

  const { session, close }: Connection = await connect(url, { onQuestion })
  return {
    close,
    async play(scene, number) {
      const playing: Playing = { scene, started: performance.now(), asked: 0 }
      present = playing
      io.out(`\n${number}. ${scene.title}`)
      line('call', `${scene.tool} ${JSON.stringify(scene.args)}`)
      const end = await runTool(session, scene.tool, scene.args, {
        onTask: (taskId) => line('task', taskId),
        // The client tells of `input_required` only after the answer; the question itself came before it.
        onChange: ({ status, statusMessage }) => {
          if (status !== 'input_required') state(status, statusMessage ?? '')
        },
      })
      line(end.isError ? 'failure' : 'result', end.texts[0] ?? '')
      for (const printed of end.isError ? logTail(end.texts[1]) : []) line('log', printed)
      return sceneProblem(scene, end, playing.asked)
    },
  }
}

/** The last lines of what a failed run printed, where it did. */
function logTail(text = ''): string[] {
  const [, log] = text.split(/^Log of .*:$/m)
  return log?.trim().split('\n').slice(-3) ?? []
}

interface Playing {
  readonly scene: Scene
  readonly started: number
  asked: number
}
