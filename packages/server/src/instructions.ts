import type { Tool } from './tool.js'

/**
 * What every agent should know, where nothing else is configured; undefined where no tool becomes a task. One text for all
 * clients, since it may be cached for all: those with tasks never see a task id in words.
 */
export function defaultInstructions(tools: readonly Tool[]): string | undefined {
  if (tools.every(({ taskSupport }) => taskSupport === 'forbidden')) return undefined
  const watched = tools.some(({ attach }) => attach !== undefined) ? ', or watches one,' : ','
  return [
    `Each of these tools starts one run of a workflow${watched} which may take minutes or hours.`,
    'If a call is answered with a task id in place of the result, the run goes on: call task_status with that id until it gives the result, and do not call the tool again meanwhile.',
    'Each answer names the next call. When it names none, you have the result.',
  ].join(' ')
}
