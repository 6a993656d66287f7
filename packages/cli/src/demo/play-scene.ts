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
  let present: { readonly scene: Scene; asked: number } | undefined
  const line = (label: string, text: string) => io.out(`   ${label.padEnd(9)}${text}`)

  async function onQuestion({ message }: ElicitationQuestion): Promise<ApplicationElicitResult> {
    const answer = present?.scene.answer ?? { action: 'decline' }
    if (present) present.asked += 1
    line('question', message)
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
      const playing = { scene, asked: 0 }
      present = playing
      const started = performance.now()
      io.out(`\n${number}. ${scene.title}`)
      line('call', `${scene.tool} ${JSON.stringify(scene.args)}`)
      const end = await runTool(session, scene.tool, scene.args, {
        onTask: (taskId) => line('task', taskId),
        onChange: ({ status, statusMessage }) => {
          const seconds = ((performance.now() - started) / 1000).toFixed(1)
          line(`${seconds} s`, `${status.padEnd(15)} ${statusMessage ?? ''}`)
        },
      })
      for (const [index, text] of end.texts.entries()) {
        line(index === 0 ? (end.isError ? 'failure' : 'result') : '', text)
      }
      return sceneProblem(scene, end, playing.asked)
    },
  }
}
