/** The JSON-RPC messages of a Server-Sent Events stream that this process wrote itself; comments are left out. */
export async function* readEvents(reader: ReadableStreamDefaultReader<Uint8Array>): AsyncGenerator<object> {
  const decoder = new TextDecoder()
  let rest = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    rest += decoder.decode(value, { stream: true })
    const events = rest.split('\n\n')
    rest = events.pop() ?? ''
    for (const event of events) {
      const data = event.split('\n').find((line) => line.startsWith('data: '))
      if (data !== undefined) yield JSON.parse(data.slice('data: '.length))
    }
  }
}
