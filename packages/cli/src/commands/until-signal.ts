/**
 * Aborts at SIGINT or SIGTERM. A second one ends the process at once, with the status that shells expect
 * (128 and the signal's number).
 */
export function untilSignal(): AbortSignal {
  const ending = new AbortController()
  for (const [name, number] of [
    ['SIGINT', 2],
    ['SIGTERM', 15],
  ] as const) {
    process.on(name, () => {
      if (ending.signal.aborted) process.exit(128 + number)
      ending.abort()
    })
  }
  return ending.signal
}
