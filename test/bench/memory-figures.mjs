import { child, figure } from './measure.mjs'

const MB = 1024 * 1024

/** @returns {Promise<import('./measure.mjs').Figure[]>} */
export async function memoryFigures() {
  const tasks = await child(['--expose-gc', 'test/bench/memory.mjs'])
  const { heap, rss } = JSON.parse(tasks.line)
  await tasks.end()
  return [
    figure('10,000 running tasks in memory: heap', heap / MB, 'MB'),
    figure('10,000 running tasks in memory: growth of the process', rss / MB, 'MB'),
  ]
}
