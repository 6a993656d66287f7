/**
 * The interpreter calls `Promise.withResolvers`, which Node has from version 22 on; Runbridge runs on Node 20 too.
 * Import this file before the interpreter.
 */
const target = Promise as unknown as { withResolvers?: () => unknown }

target.withResolvers ??= function withResolvers(this: PromiseConstructor) {
  let resolve: unknown
  let reject: unknown
  const promise = new this((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}
