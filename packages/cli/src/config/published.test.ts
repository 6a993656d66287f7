import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { configReference, withReference } from './config-reference.js'
import { editorSchema } from './editor-schema.js'

/** `npm run docs` runs this file with `--update`, which writes what is stale. */
const schemaFile = fileURLToPath(new URL('../../schema/runbridge.schema.json', import.meta.url))
const page = fileURLToPath(new URL('../../../../docs/configuration.md', import.meta.url))

it('the published schema is the one of the code; if not: npm run docs', async () => {
  await expect(`${JSON.stringify(editorSchema(), null, 2)}\n`).toMatchFileSnapshot(schemaFile)
})

it('docs/configuration.md lists every key as the code has it; if not: npm run docs', async () => {
  const text = await readFile(page, 'utf8')
  await expect(withReference(text, configReference())).toMatchFileSnapshot(page)
})
