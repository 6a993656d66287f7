/**
 * Defines `Promise.withResolvers` where Node lacks it (before 22): the interpreter calls it, and Runbridge runs on Node 20.
 * A function rather than a bare import, because bundlers drop bare imports of packages without side effects.
 */
export function definePromiseWithResolvers(): void {
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
}
