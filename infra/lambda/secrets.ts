/**
 * Secrets as variables of the configuration. Read once in a sandbox's life: after a rotation new sandboxes have the
 * new value, and a deployment or a change of any variable replaces all of them.
 * @param names JSON: the ARN of the secret by the name of its variable
 */
export async function secretsOf(names: string | undefined): Promise<Record<string, string>> {
  const secrets = Object.entries(JSON.parse(names || '{}') as Record<string, string>)
  if (secrets.length === 0) return {}
  const { secretValues } = await import('./secret-values.js')
  return secretValues(secrets)
}
