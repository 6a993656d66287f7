import type { Question, TaskRecord } from '@runbridge/core'

/**
 * Which open questions one asker has still to put: each key once, and a gate whose question was dismissed not
 * again, although it is open under a new key, unless the engine closed and opened it meanwhile.
 */
export function questionsToAsk() {
  /** The last key that was asked, by gate. */
  const asked = new Map<string, string>()
  const pick = (record: TaskRecord, questions: readonly Question[]): readonly Question[] =>
    questions.filter(({ gate }) => {
      const last = record.inputs.find(({ key }) => key === asked.get(gate.id))
      return last === undefined || last.gone === true
    })
  pick.asked = ({ key, gate }: Question) => void asked.set(gate.id, key)
  return pick
}
