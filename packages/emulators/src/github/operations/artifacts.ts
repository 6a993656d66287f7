import { apiError, notFound } from '../errors.js'
import type { Run } from '../run.js'
import { artifactBody } from '../run-bodies.js'
import type { ArtifactScript } from '../script.js'
import { type RunView, viewOf } from '../timeline.js'
import { zipOf } from '../zip.js'
import { type Operation, ok, pageOf } from './operation.js'
import { shownRun } from './runs.js'

interface Artifact {
  readonly id: number
  readonly view: RunView
  readonly script: ArtifactScript
  readonly data: Uint8Array
}

export const listArtifacts: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/runs/{run_id}/artifacts',
  needs: ['actions', 'read'],
  answer(call) {
    const { state, query } = call
    const found = artifactsOf(shownRun(call), state.now()).filter(
      ({ script }) => query.get('name') === null || script.name === query.get('name'),
    )
    const artifacts = pageOf(found, query).map(({ view, script, id, data }) =>
      artifactBody(state.place, view, script, id, data.length),
    )
    return ok({ total_count: found.length, artifacts })
  },
}

export const downloadArtifact: Operation = {
  method: 'GET',
  path: '/repos/{owner}/{repo}/actions/artifacts/{artifact_id}/{archive_format}',
  needs: ['actions', 'read'],
  answer({ state, repository, params }) {
    const id = Number(params.artifact_id)
    const run = repository.runs.get(Math.floor(id / 10_000))
    const artifact = run && artifactsOf(run, state.now()).find((each) => each.id === id)
    if (!artifact || params.archive_format !== 'zip') throw notFound()
    if (artifact.script.expired) throw apiError(410, 'Artifact has expired')
    const name = `artifact-${id}`
    state.blobs.set(name, { type: 'application/zip', data: artifact.data })
    return { status: 302, headers: { location: `${state.place.html}/_blobs/${name}?run=${run.id}` } }
  },
}

/** Of all attempts: GitHub lists them together. */
function artifactsOf(run: Run, now: number): Artifact[] {
  return run.attempts.flatMap((attempt) => {
    const view = viewOf(run, now, attempt)
    if (view.status !== 'completed') return []
    return (view.script.artifacts ?? []).map((script, index) => ({
      id: run.id * 10_000 + attempt.number * 100 + index,
      view,
      script,
      data: script.content instanceof Uint8Array ? script.content : zipOf(script.content),
    }))
  })
}
