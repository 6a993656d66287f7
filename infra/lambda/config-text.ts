import { readFile } from 'node:fs/promises'

/** The configuration: what the SSM parameter holds, or the file that was bundled beside this one. */
export async function configText(name: string | undefined): Promise<string> {
  if (!name) return readFile(new URL('./runbridge.yaml', import.meta.url), 'utf8')
  const { parameter } = await import('./parameter.js')
  return parameter(name)
}
