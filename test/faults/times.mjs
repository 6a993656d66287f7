/** Short, so that a crash, the settling after it and the end of the run fit into seconds. In ms. */
export const TIMES = {
  startTimeoutMs: 1_200,
  attemptTimeoutMs: 500,
  settlePauseMs: 50,
  clockAllowanceMs: 100,
  visibilityMs: 300,
  sweepIntervalMs: 200,
}
