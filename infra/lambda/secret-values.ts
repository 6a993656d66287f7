import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'

/** The texts of secrets of Secrets Manager, by the name of their variable. Loaded where there are any. */
export async function secretValues(
  secrets: readonly (readonly [name: string, arn: string])[],
): Promise<Record<string, string>> {
  const client = new SecretsManagerClient({})
  try {
    const values = secrets.map(async ([name, SecretId]) => {
      const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId }))
      if (SecretString === undefined)
        throw new Error(`The secret ${SecretId} for ${name} has no text; store it as a string.`)
      return [name, SecretString] as const
    })
    return Object.fromEntries(await Promise.all(values))
  } finally {
    client.destroy()
  }
}
