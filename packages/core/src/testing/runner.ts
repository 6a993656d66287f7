type Step = () => void | Promise<void>

/**
 * The part of a test runner that the conformance kits need, so that an adapter outside this repository can
 * prove itself with its own: vitest, Jest, or `node:test` behind a few lines.
 */
export interface SuiteRunner {
  describe(name: string, define: () => void): void
  /** @param timeoutMs the runner's own default where it is absent */
  it(name: string, test: Step, timeoutMs?: number): void
  beforeAll(step: Step, timeoutMs?: number): void
  afterAll(step: Step, timeoutMs?: number): void
  beforeEach(step: Step, timeoutMs?: number): void
  afterEach(step: Step, timeoutMs?: number): void
}
