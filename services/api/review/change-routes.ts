import { Readable } from 'node:stream'
import { OpenAPIHono } from '@hono/zod-openapi'
import { AppError } from '#domain/error.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { findRun } from '../runs/run-view.ts'
import { changeEndpoints } from './change-endpoints.ts'
import { type ChangeDeps, changesOfOperation, listChanges, proposedPatch } from './run-changes.ts'

export type ChangeRouteDeps = ChangeDeps

/** Serves the change sets of a run and their composed patch. */
export function changeRoutes(deps: ChangeRouteDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(changeEndpoints.list, async (c) => {
    const { operation_id: operationId, cursor, limit } = c.req.valid('query')
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    if (operationId !== undefined) {
      return c.json({ changes: await changesOfOperation(run, operationId, deps), next: null }, 200)
    }
    return c.json(await listChanges(run, { cursor, limit }, deps), 200)
  })
  routes.openapi(changeEndpoints.patch, async (c) => {
    const run = await findRun(c.req.valid('param').run_id, c.get('caller').projectId, deps.ledger)
    const composition = await deps.records.readComposition(run)
    if (composition === null) throw withoutPatch(run)
    const parts = proposedPatch(composition, (hash) => deps.records.readBlob(run.projectId, hash))
    const first = await parts.next() // when a blob of the first file is missing, the answer can still be a problem
    if (first.done === true) return c.body(null, 204)
    return c.body(streamOf(first.value, parts), 200, {
      'content-type': 'text/x-diff',
      'content-disposition': `attachment; filename="${run.runId}.patch"`,
    })
  })
  return routes
}

function withoutPatch({ runId, status }: Run): AppError {
  if (!isEnded(status)) return new AppError('RUN_006', `Run ${runId} has no patch yet: it is ${status}.`)
  const end = status === 'cancelled' ? 'was cancelled' : status === 'failed' ? 'failed' : `is ${status}`
  const wayOn = `"remora retry ${runId}" does the rest and makes one patch of all.`
  return new AppError('RUN_007', `Run ${runId} ${end}: it has no patch; ${wayOn}`)
}

function streamOf(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): ReadableStream {
  async function* all() {
    yield first
    yield* rest
  }
  return Readable.toWeb(Readable.from(all()))
}
