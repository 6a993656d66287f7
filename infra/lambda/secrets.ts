import { unreadable } from './unreadable.js'

/**
 * Secrets as variables of the configuration. Read once in a sandbox's life: after a rotation new sandboxes have the
 * new value, and a deployment or a change of any variable replaces all of them.
 * @param names JSON: the ARN of the secret by the name of its variable
 */
export async function secretsOf(names: string | undefined): Promise<Record<string, string>> {
  const secrets = Object.entries(JSON.parse(names || '{}') as Record<string, string>)
  if (secrets.length === 0) return {}
  // From the SDK of Lambda's runtime, as in config-of.ts.
  const { GetSecretValueCommand, SecretsManagerClient } = await import('@aws-sdk/client-secrets-manager')
  const client = new SecretsManagerClient({})
  try {
    const values = secrets.map(async ([name, SecretId]) => {
      const what = `The secret ${SecretId} for ${name}`
      const request = new GetSecretValueCommand({ SecretId })
      const { SecretString } = await client.send(request).catch((thrown: unknown) => {
        const missing = 'ResourceNotFoundException'
        const create = 'create it and give it a value, in the function’s region'
        throw unreadable({ what, missing, create, action: 'secretsmanager:GetSecretValue' }, thrown)
      })
      if (SecretString === undefined) throw new Error(`${what} has no text; store it as a string.`)
      return [name, SecretString] as const
    })
    return Object.fromEntries(await Promise.all(values))
  } finally {
    client.destroy()
  }
}
