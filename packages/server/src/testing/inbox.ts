/** Things that arrive, taken one by one in their order. */
export interface Inbox<T> {
  put(item: T): void
  /** Nothing more arrives. */
  end(): void
  /** The next one as soon as it is there; undefined after the last. */
  next(): Promise<T | undefined>
}

export function inbox<T>(): Inbox<T> {
  const items: T[] = []
  let ended = false
  let wake = () => {}
  return {
    put(item) {
      items.push(item)
      wake()
    },
    end() {
      ended = true
      wake()
    },
    async next() {
      while (items.length === 0 && !ended) {
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
      return items.shift()
    },
  }
}
