import type { SessionRecord, SessionStore } from '@runbridge/core'

/** @param whileOpen throws once the store is closed */
export function memorySessions(whileOpen: () => void): SessionStore {
  // As JSON text, as any other store has it: nobody shares an object with it.
  const sessions = new Map<string, string>()
  const read = (id: string): SessionRecord | undefined => {
    const text = sessions.get(id)
    return text === undefined ? undefined : (JSON.parse(text) as SessionRecord)
  }
  const put = (session: SessionRecord) => sessions.set(session.id, JSON.stringify(session))

  return {
    async create(session) {
      whileOpen()
      if (sessions.has(session.id)) return 'exists'
      put({ ...session, version: 1 })
      return 'created'
    },
    async get(id) {
      whileOpen()
      return read(id)
    },
    async update(session) {
      whileOpen()
      const present = read(session.id)
      if (present === undefined) return 'missing'
      if (present.version !== session.version) return 'conflict'
      put({ ...session, version: session.version + 1 })
      return 'updated'
    },
    async delete(id) {
      whileOpen()
      return sessions.delete(id)
    },
    async sweep(seenBefore, limit) {
      whileOpen()
      const idle = [...sessions.keys()].filter((id) => (read(id)?.seenAt ?? seenBefore) < seenBefore)
      for (const id of idle.slice(0, limit)) sessions.delete(id)
      return Math.min(limit, idle.length)
    },
  }
}
