/** Short, so that a crash, the settling after it and the end of the run fit into seconds. In ms. */
export const TIMES = {
  startTimeoutMs: 3_000,
  attemptTimeoutMs: 1_000,
  settlePauseMs: 50,
  clockAllowanceMs: 100,
  visibilityMs: 1_500,
  sweepMs: 200,
}
