import assert from 'node:assert/strict'
import type { TaskStore } from '../store.js'
import type { SuiteRunner } from './runner.js'
import { concurrencyTests } from './store-suite/concurrency.js'
import { durabilityTests } from './store-suite/durability.js'
import { idTests } from './store-suite/ids.js'
import { keepTests } from './store-suite/keep.js'
import { listTests } from './store-suite/list.js'
import { modelTests } from './store-suite/model.js'
import { nameTests } from './store-suite/names.js'
import { runTests } from './store-suite/runs.js'
import { sweepTests } from './store-suite/sweep.js'

/** A store without records, for one test. */
export interface OpenStore {
  readonly store: TaskStore
  /** `durable`: closes the store, and opens what it kept as a new process would. */
  reopen?(): Promise<TaskStore>
  /** `multiProcess`: one more store on the same records, as another process has it. */
  join?(): Promise<TaskStore>
  /** Closes everything that this test opened and removes what it left. */
  dispose(): Promise<void>
}

export interface StoreCapabilities {
  /** What was written is still there when the store is opened again. Without it that is not tested. */
  readonly durable: boolean
  /** Several processes can work on the same records. Without it that is not tested. */
  readonly multiProcess: boolean
  /**
   * It keeps records. Without it (`idOf`, and every one of `STORE_CAPABILITIES` in `lacks`) it is held to what is left:
   * ids that are records, and saying what it can't do. Default true.
   */
  readonly keeps?: boolean
}

export interface StoreSuiteOptions {
  readonly name: string
  readonly capabilities: StoreCapabilities
  open(): Promise<OpenStore>
  /**
   * Checks a property for many random lists of whole numbers from 0 to 2^32 - 1, and looks for the shortest
   * list that breaks it. Each number is one operation on the store. With fast-check:
   *
   *     (check) => fc.assert(fc.asyncProperty(fc.array(fc.nat(0xffffffff), { maxLength: 60, size: 'max' }), check))
   *
   * A function, so that this kit depends on no library for properties, nor shows the types of one.
   */
  forAll(check: (choices: readonly number[]) => Promise<void>): Promise<void>
}

/** How one group of tests is registered: each test gets a fresh store that is disposed of afterwards. */
export interface StoreTests {
  readonly options: StoreSuiteOptions
  it(name: string, test: (store: TaskStore, opened: OpenStore) => Promise<void>): void
}

/** Proves that a store keeps the contract of TaskStore: one test for each of its sentences. */
export function storeSuite(runner: SuiteRunner, options: StoreSuiteOptions): void {
  const { durable, multiProcess, keeps = true } = options.capabilities
  const group = (name: string, define: (tests: StoreTests) => void) =>
    runner.describe(name, () => {
      define({
        options,
        it: (title, test) =>
          runner.it(title, async () => {
            const opened = await options.open()
            try {
              assert.equal(
                opened.reopen !== undefined,
                durable,
                '`reopen` is there exactly when it is durable',
              )
              assert.equal(
                opened.join !== undefined,
                multiProcess,
                '`join` is there exactly for multiProcess',
              )
              await test(opened.store, opened)
            } finally {
              await opened.dispose()
            }
          }),
      })
    })

  runner.describe(`TaskStore: ${options.name}`, () => {
    if (!keeps) return group('ids that are records', idTests)
    group('create, get, update, delete', keepTests)
    group('list', listTests)
    group('claim', nameTests)
    group('byRun', runTests)
    group('sweep', sweepTests)
    group('at the same time', concurrencyTests)
    if (durable) group('opened again', durabilityTests)
    group('random operations', modelTests)
  })
}
