import { RunbridgeError } from '@runbridge/core'

/** The label of an execution that holds its run key. */
export const RUN_KEY_LABEL = 'runbridge'

/** Google's limits: the Execution message, `labels`. One is ours. */
const MAX_LABELS = 63
const KEY = /^[\p{Ll}\p{Lo}][\p{Ll}\p{Lo}\p{N}_-]{0,62}$/u
const VALUE = /^[\p{Ll}\p{Lo}\p{N}_-]{0,63}$/u

/** The labels of a new execution, or why they can't be. */
export function labelsOf(
  given: Readonly<Record<string, string>> | undefined,
  runKey: string,
): Record<string, string> | RunbridgeError {
  const labels = Object.entries(given ?? {})
  const wrong = labels.find(([key, value]) => !KEY.test(key) || !VALUE.test(value) || key === RUN_KEY_LABEL)
  if (wrong || labels.length > MAX_LABELS) {
    const which = wrong ? `The label ${JSON.stringify(wrong[0])}` : `${labels.length} labels`
    return new RunbridgeError(
      'misconfigured',
      `${which} can not be put on an execution: at most ${MAX_LABELS}, of 1 to 63 lowercase letters, digits, _ and -, starting with a letter, and not ${RUN_KEY_LABEL}.`,
    )
  }
  if (!VALUE.test(runKey)) {
    return new RunbridgeError(
      'invalid_input',
      `The run key ${JSON.stringify(runKey)} is no value of a label.`,
    )
  }
  return { ...given, [RUN_KEY_LABEL]: runKey }
}

/** https://google.aip.dev/160: a map's key as a field. */
export function labelFilter(key: string, value: string): string {
  return `labels.${key}="${value}"`
}
