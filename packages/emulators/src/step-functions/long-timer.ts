/** A timeout of any length: Node's own ends at once where the delay has more than 31 bits of milliseconds. */
export interface LongTimer {
  stop: () => void
}

const longest = 2 ** 31 - 1

export function longTimer(onEnd: () => void, delayMs: number): LongTimer {
  let timer: NodeJS.Timeout
  const wait = (leftMs: number) => {
    timer =
      leftMs > longest
        ? setTimeout(() => wait(leftMs - longest), longest)
        : setTimeout(onEnd, Math.max(0, leftMs))
  }
  wait(delayMs)
  return { stop: () => clearTimeout(timer) }
}
