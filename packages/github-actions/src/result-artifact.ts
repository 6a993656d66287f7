import type { Json, Link, Snapshot } from '@runbridge/core'
import type { ApiArtifact } from './api.js'
import { download } from './download.js'
import { statusOf } from './errors.js'
import { runPath, runWords, type Subject } from './run-reads.js'
import { readFromZip } from './unzip.js'

/** Of the zip and of the file in it: what goes into a conversation must be small. */
const RESULT_LIMIT_BYTES = 1_048_576

export type Output = Pick<Snapshot, 'output' | 'outputOmitted'>

/** The newest artifact of this name that our attempt made; GitHub lists those of all attempts together. */
export function resultOf(
  artifacts: readonly ApiArtifact[],
  name: string,
  period: { readonly from: number | undefined; readonly to: number | undefined },
): ApiArtifact | undefined {
  const { from = 0, to = Number.POSITIVE_INFINITY } = period
  const ours = artifacts.filter(({ name: each, created_at: at }) => {
    return each === name && (at == null || (at >= from - 1000 && at <= to + 60_000))
  })
  return ours.sort((a, b) => (b.created_at ?? 0) - (a.created_at ?? 0))[0]
}

export async function readResult(subject: Subject, artifact: ApiArtifact): Promise<Output> {
  const omitted = (why: string): Output => ({
    outputOmitted: `The run succeeded and its artifact ${artifact.name} is not shown: ${why}.`,
  })
  if (artifact.expired) return omitted('it has expired')
  if (artifact.size_in_bytes > RESULT_LIMIT_BYTES) {
    return omitted(`it has ${artifact.size_in_bytes} bytes, and at most ${RESULT_LIMIT_BYTES} are read`)
  }
  let data: Buffer
  try {
    const { owner, repo } = runPath(subject)
    const sent = {
      what: `the artifact ${artifact.name} of ${runWords(subject)}`,
      client: subject.engine.clients.reads,
      route: 'GET /repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}',
      path: { owner, repo, artifact_id: artifact.id, archive_format: 'zip' },
      signal: subject.context.signal,
    }
    data = (await download(subject.engine, sent, { most: RESULT_LIMIT_BYTES, keep: RESULT_LIMIT_BYTES })).data
  } catch (thrown) {
    const status = statusOf(thrown)
    if (status === 404 || status === 410) return omitted('it is gone')
    throw thrown
  }
  const chosen = (name: string) => /^[^/]+\.json$/i.test(name)
  const unpacked = await readFromZip(data, { most: RESULT_LIMIT_BYTES, chosen })
  if ('refused' in unpacked) return omitted(unpacked.refused)
  try {
    return { output: JSON.parse(unpacked.file.toString('utf8').replace(/^\ufeff/, '')) as Json }
  } catch {
    return omitted('its file is no JSON')
  }
}

const MAX_LINKED = 10

/** Pages of the site, where a person who is logged in can download them. */
export function artifactLinks(artifacts: readonly ApiArtifact[], runUrl: string): Link[] {
  return artifacts
    .filter(({ expired }) => !expired)
    .slice(0, MAX_LINKED)
    .map(({ id, name }) => ({ title: `Artifact ${name}`, url: `${runUrl}/artifacts/${id}` }))
}
