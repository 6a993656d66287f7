import { expect, test } from 'vitest'
import { type Check, judged } from './judge.mjs'
import { ALWAYS_SKIPPED, NOT_COUNTED } from './scenarios.mjs'

const check = (id: string, status: Check['status']): Check => ({ id, name: id, status })
const figures = (scenario: string, checks: Check[]) => {
  const { passed, failed, skipped, warned, notCounted } = judged(scenario, checks, 'printed')
  return [passed, failed, skipped, warned, notCounted].map((of) => of.length)
}

test('checks are counted by what the suite said', () => {
  const checks = [check('a', 'SUCCESS'), check('b', 'SUCCESS'), check('c', 'WARNING'), check('d', 'INFO')]
  expect(figures('tools-list', checks)).toEqual([2, 0, 0, 1, 0])
  expect(figures('tools-list', [...checks, check('e', 'FAILURE')])).toEqual([2, 1, 0, 1, 0])
})

test('a scenario that ran no check failed', () => {
  expect(figures('tools-list', [])).toEqual([0, 1, 0, 0, 0])
  expect(figures('tools-list', [check('a', 'INFO')])).toEqual([0, 1, 0, 0, 0])
  expect(judged('tools-list', [], 'Error: no route').failed[0]?.errorMessage).toContain('no route')
})

test('only what the suite skips for every server may be skipped', () => {
  const [always = ''] = ALWAYS_SKIPPED
  expect(figures(always, [check(always, 'SKIPPED')])).toEqual([0, 0, 1, 0, 0])
  expect(figures('caching', [check('a', 'SUCCESS'), check('b', 'SKIPPED')])).toEqual([1, 1, 0, 0, 0])
})

test('a check that does not fit counts for nothing, until it passes', () => {
  const [scenario = '', excused = {}] = Object.entries(NOT_COUNTED)[0] ?? []
  const [id = ''] = Object.keys(excused)
  expect(figures(scenario, [check('a', 'SUCCESS'), check(id, 'FAILURE')])).toEqual([1, 0, 0, 0, 1])
  expect(figures(scenario, [check('a', 'SUCCESS'), check(id, 'SUCCESS')])).toEqual([1, 1, 0, 0, 1])
  expect(figures('tools-list', [check('a', 'SUCCESS'), check(id, 'FAILURE')])).toEqual([1, 1, 0, 0, 0])
})
