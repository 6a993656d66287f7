import type * as Sdk from '@aws-sdk/credential-providers'

/** In a variable, so that no bundler looks for it. */
const SDK: string = '@aws-sdk/credential-providers'

/**
 * Instead of `@aws-sdk/credential-providers` in the bundle (47 kB, with a client of STS): only who assumes a role needs
 * it, and it is then loaded from the SDK of Lambda's runtime, as the CDK's own functions do.
 */
export const fromTemporaryCredentials: typeof Sdk.fromTemporaryCredentials =
  (options) => async (properties) => {
    const sdk: typeof Sdk = await import(SDK).catch((cause: unknown) => {
      const reason = `${SDK} could not be loaded: ${cause instanceof Error ? cause.message : cause}`
      throw new Error(
        `The roles of \`engines.stepFunctions\` (\`roleArn\`, \`roles\`) are assumed by the SDK of Lambda's runtime, and ${reason}. Put the package beside the bundle, or leave them out.`,
        { cause },
      )
    })
    return sdk.fromTemporaryCredentials(options)(properties)
  }

/** A function has no AWS configuration files. */
export function fromIni(): () => Promise<never> {
  return async () => {
    throw new Error('There are no profiles on Lambda: leave `engines.stepFunctions.profile` out.')
  }
}
