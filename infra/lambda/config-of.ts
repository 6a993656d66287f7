import { readFile } from 'node:fs/promises'
import type { CompiledConfig } from 'runbridge'

/** The configuration: the text in the SSM parameter, or what was made of the file and put beside this one. */
export async function configOf(parameter: string | undefined): Promise<string | CompiledConfig> {
  if (!parameter) return JSON.parse(await readFile(new URL('./runbridge.json', import.meta.url), 'utf8'))
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
