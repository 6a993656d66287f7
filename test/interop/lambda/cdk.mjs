import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { bin, root, run } from '../../bin/command.mjs'

/** @typedef {{ AWS_ACCESS_KEY_ID: string, AWS_SECRET_ACCESS_KEY: string }} Credentials */

/** As `infra/cdk.json` runs its app, for another entry. @param {string} entry below `infra`, without its ending */
export const appOf = (entry) => {
  const out = `dist/${entry.split('/').at(-1)}.mjs`
  const esbuild = `npx esbuild ${entry}.ts --bundle --packages=external --platform=node --format=esm`
  return `${esbuild} --outfile=${out} --log-level=warning && node ${out}`
}

/**
 * `npx cdk` in `infra`, on a local AWS and nowhere else: no variable and no file of AWS reaches it from outside.
 * @param {import('../ministack.mjs').Ministack} ministack @param {Credentials} credentials @param {readonly string[]} args
 */
export async function cdk({ url, ca, folder }, credentials, args) {
  const outside = Object.keys(process.env).filter((name) => name.startsWith('AWS_'))
  const { code, output } = await run(bin('cdk'), args, {
    cwd: join(root, 'infra'),
    env: {
      ...Object.fromEntries(outside.map((name) => [name, undefined])),
      ...credentials,
      HOME: folder,
      AWS_ENDPOINT_URL: url,
      AWS_CA_BUNDLE: ca,
      AWS_REGION: 'us-east-1',
      AWS_EC2_METADATA_DISABLED: 'true',
      CI: 'true',
    },
  })
  if (code !== 0) throw new Error(`cdk ${args[0]} failed: ${output.trim().slice(-1500)}`)
  return output
}

/** What a synthesis wrote. @param {string} out @param {string} stack */
export function synthesized(out, stack) {
  const asset = readdirSync(out).find((name) => name.startsWith('asset.') && !name.endsWith('.zip'))
  if (asset === undefined) throw new Error('cdk made no bundle')
  /** @type {{ Resources: Record<string, { Type: string, Properties: any }> }} */
  const template = JSON.parse(readFileSync(join(out, `${stack}.template.json`), 'utf8'))
  return {
    bundle: join(out, asset),
    /** The properties of the resources of a type. @param {string} type */
    resources: (type) =>
      Object.values(template.Resources).flatMap(({ Type, Properties }) =>
        Type === type ? [Properties] : [],
      ),
  }
}
