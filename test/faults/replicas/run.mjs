import { STORES } from '../stores.mjs'
import { runReplicas } from './replicas.mjs'

/** Replicas may read the engine this many times as often as one that nothing happens to; the rest is looking again. */
const READS_RATIO = 2
/** Tasks of the single replica that the reads are compared with, at most. */
const COMPARED = 200

/**
 * `npm run faults -- replicas [--tasks=1000] [--seed=N]`. Resolves to whether everything holds.
 * @param {{ tasks: number, seed: number, json: boolean }} options
 */
export async function replicas({ tasks, seed, json }) {
  const stores = await STORES.postgres?.()
  if (!stores) throw new Error('no PostgreSQL')
  console.log(`four replicas, ${tasks} tasks, seed ${seed} (again with --seed=${seed})`)
  try {
    const few = Math.min(tasks, COMPARED)
    const single = await timed(() =>
      runReplicas({ shared: stores.next(), tasks: few, replicas: 1, seed, faults: false }),
    )
    const many = await timed(() =>
      runReplicas({ shared: stores.next(), tasks, replicas: 4, seed, faults: true }),
    )
    const ratio = many.reads / single.reads
    if (json) console.log(JSON.stringify({ single, many }, null, 2))
    for (const detail of [...single.details, ...many.details].slice(0, 20)) console.log(`FAILED ${detail}`)
    console.log(
      `one replica: ${few} tasks in ${single.seconds} s, ${single.reads.toFixed(1)} reads a run; ` +
        `four: ${many.seconds} s, ${many.reads.toFixed(1)} reads a run, ratio ${ratio.toFixed(2)} (at most ${READS_RATIO}), ` +
        `${many.executions} runs, ${many.cuts} cuts, ${many.unstarted} starts came to nothing`,
    )
    const sum = (/** @type {'duplicate' | 'lost' | 'wrong'} */ figure) => single[figure] + many[figure]
    const [duplicate, lost, wrong] = [sum('duplicate'), sum('lost'), sum('wrong')]
    console.log(
      `faults replicas: ${tasks} tasks, ${many.kills} kills, ${duplicate} duplicate, ${lost} lost, ${wrong} wrong`,
    )
    return duplicate + lost + wrong === 0 && ratio <= READS_RATIO
  } finally {
    await stores.close()
  }
}

/**
 * @template T
 * @param {() => Promise<T>} run
 */
async function timed(run) {
  const from = performance.now()
  const result = await run()
  return { ...result, seconds: Math.round((performance.now() - from) / 1000) }
}
