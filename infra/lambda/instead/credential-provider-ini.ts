/**
 * Instead of `@aws-sdk/credential-provider-ini` in the bundle: a function has no AWS configuration files, and what
 * reads them brings the clients of three services.
 */
export function fromIni(): () => Promise<never> {
  return async () => {
    throw new Error('There are no profiles on Lambda: leave `engines.stepFunctions.profile` out.')
  }
}
