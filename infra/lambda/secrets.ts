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
