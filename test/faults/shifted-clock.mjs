// Preloaded into a server of the fault tests: shows a time that is wrong by FAULTS_CLOCK_MS. Timers are right.
const by = Number(process.env.FAULTS_CLOCK_MS ?? 0)
globalThis.Date = new Proxy(Date, {
  construct: (target, values, self) =>
    Reflect.construct(target, values.length === 0 ? [target.now() + by] : values, self),
  get: (target, key) => (key === 'now' ? () => target.now() + by : Reflect.get(target, key)),
})
