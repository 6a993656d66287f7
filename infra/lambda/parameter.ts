import { GetParameterCommand, SSMClient } from '@aws-sdk/client-ssm'

/** The value of an SSM parameter. A file of its own, loaded where it is needed: a cold start pays for every module. */
export async function parameter(name: string): Promise<string> {
  const client = new SSMClient({})
  try {
    const { Parameter } = await client.send(new GetParameterCommand({ Name: name, WithDecryption: true }))
    if (Parameter?.Value) return Parameter.Value
    throw new Error(`The SSM parameter ${name} is empty; write the text of runbridge.yaml into it.`)
  } finally {
    client.destroy()
  }
}
