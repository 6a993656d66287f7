import { setTimeout as delay } from 'node:timers/promises'
import type { TaskFunctions } from '@runbridge/emulators/step-functions'

interface Work {
  readonly orderId?: string
  readonly version?: string
  readonly month?: string
  readonly approval?: { readonly comment?: string }
  readonly booked?: { readonly stock: { readonly attempts: number } }
}

/**
 * What the Lambda functions of the demo's state machines would do, by name.
 * @param pace 1 takes long enough to be seen, 0 no time at all
 */
export function demoFunctions(pace: number): TaskFunctions {
  const work = (ms: number, result: (input: Work) => unknown) => takes(ms * pace, result)
  let reservations = 0
  return {
    'check-order': work(600, ({ orderId }) => ({ orderId, items: 2, total: '48.00 EUR' })),
    'reserve-stock': work(900, () => {
      reservations += 1
      if (reservations < 3) throw named('InventoryBusy', 'the inventory is locked by another order')
      return { reserved: true, attempts: reservations }
    }),
    'charge-card': work(1500, () => ({ charged: '48.00 EUR' })),
    'ship-order': work(1200, ({ orderId, booked }) => ({
      orderId,
      parcel: `P-${orderId}`,
      stockAttempts: booked?.stock.attempts,
    })),
    'build-image': work(1500, ({ version }) => ({ version, image: `shop:${version}` })),
    'roll-out': work(1500, ({ version, approval }) => ({
      deployed: version,
      approvalComment: approval?.comment,
    })),
    'list-files': work(900, ({ month }) => ({
      files: ['invoices', 'payments', 'refunds'].map((name) => `${month}/${name}.csv`),
    })),
    'import-file': async (input, { signal }) => {
      await delay(800 * pace, undefined, { signal })
      if (String(input).endsWith('refunds.csv'))
        throw named('FileMissing', `${String(input)} is not in the bucket`)
      return { file: input, rows: 120 }
    },
  }
}

function takes(ms: number, result: (input: Work) => unknown): TaskFunctions[string] {
  return async (input, { signal }) => {
    await delay(ms, undefined, { signal })
    return result(input as Work)
  }
}

/** Step Functions matches `Retry` and `Catch` on the error's name. */
function named(name: string, message: string): Error {
  return Object.assign(new Error(message), { name })
}
