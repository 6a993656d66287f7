import { readFile } from 'node:fs/promises'
import type { CompiledConfig } from 'runbridge'
import { unreadable } from './unreadable.js'

/** The configuration: the text in the SSM parameter, or what was made of the file and put beside this one. */
export async function configOf(parameter: string | undefined): Promise<string | CompiledConfig> {
  if (!parameter) return JSON.parse(await readFile(new URL('./runbridge.json', import.meta.url), 'utf8'))
  // From the SDK of Lambda's runtime. A static import would be loaded at every cold start, and by those without it.
  const { GetParameterCommand, SSMClient } = await import('@aws-sdk/client-ssm')
  const client = new SSMClient({})
  const what = `The SSM parameter ${parameter}`
  try {
    const request = new GetParameterCommand({ Name: parameter, WithDecryption: true })
    const { Parameter } = await client.send(request).catch((thrown: unknown) => {
      const create = 'create it with the text of runbridge.yaml, in the function’s region'
      throw unreadable({ what, missing: 'ParameterNotFound', create, action: 'ssm:GetParameter' }, thrown)
    })
    if (Parameter?.Value?.trim()) return Parameter.Value
    throw new Error(`${what} is empty; write the text of runbridge.yaml into it.`)
  } finally {
    client.destroy()
  }
}
