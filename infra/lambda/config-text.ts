import { readFile } from 'node:fs/promises'

/** The configuration: what the SSM parameter holds, or the file that was bundled beside this one. */
export async function configText(parameter: string | undefined): Promise<string> {
  if (!parameter) return readFile(new URL('./runbridge.yaml', import.meta.url), 'utf8')
  // From the SDK of Lambda's runtime. A static import would be loaded at every cold start, and by those without it.
  const { GetParameterCommand, SSMClient } = await import('@aws-sdk/client-ssm')
  const client = new SSMClient({})
  try {
    const { Parameter } = await client.send(
      new GetParameterCommand({ Name: parameter, WithDecryption: true }),
    )
    if (Parameter?.Value) return Parameter.Value
    throw new Error(`The SSM parameter ${parameter} is empty; write the text of runbridge.yaml into it.`)
  } finally {
    client.destroy()
  }
}
