import { Readable } from 'node:stream'
import { Hono } from 'hono'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { isEnded, type Run } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { ApiEnv } from '../http/api-env.ts'
import { Cursor, pageLimit, readQuery } from '../http/query.ts'
import { findRun } from '../runs/find-run.ts'
import { listChanges, type ChangeDeps } from './list-changes.ts'
import { proposedPatch } from './proposed-patch.ts'

export type ChangeRouteDeps = ChangeDeps & { ledger: Pick<Ledger, 'getRun'> }

const changesQuery = { cursor: Cursor, limit: pageLimit(100, 20) }
const patchQuery = {
  of: z.literal('proposed', { error: 'only "proposed": accepted patches come with reviews' }).default('proposed'),
}

/** What a run changed: its change sets, and their composed patch. */
export function changeRoutes(deps: ChangeRouteDeps): Hono<ApiEnv> {
  const routes = new Hono<ApiEnv>()
  routes.get('/:run_id/changes', async (c) => {
    const { cursor, limit } = readQuery(changesQuery, c)
    const run = await findRun(c.req.param('run_id'), c.get('projectId'), deps.ledger)
    return c.json(await listChanges(run, { cursor, limit }, deps))
  })
  routes.get('/:run_id/patch', async (c) => {
    readQuery(patchQuery, c)
    const run = await findRun(c.req.param('run_id'), c.get('projectId'), deps.ledger)
    const composition = await deps.records.readComposition(run)
    if (composition === null) throw withoutPatch(run)
    const parts = proposedPatch(composition, (hash) => deps.records.readBlob(run.projectId, hash))
    const first = await parts.next() // a missing blob of the first file is still a proper answer
    if (first.done === true) return c.body(null, 204)
    return c.body(streamOf(first.value, parts), 200, {
      'content-type': 'text/x-diff',
      'content-disposition': `attachment; filename="${run.runId}.patch"`,
    })
  })
  return routes
}

function withoutPatch({ runId, status }: Run): AppError {
  if (!isEnded(status)) return new AppError('RUN_006', `The patch of run ${runId} is still to come: it is ${status}.`)
  const end = status === 'cancelled' ? 'was cancelled' : status === 'failed' ? 'failed' : `is ${status}`
  const wayOn = `remora retry ${runId} makes the rest and one patch.`
  return new AppError('RUN_007', `Run ${runId} ${end}: it has no patch; ${wayOn}`)
}

function streamOf(first: Uint8Array, rest: AsyncGenerator<Uint8Array>): ReadableStream {
  async function* all() {
    yield first
    yield* rest
  }
  return Readable.toWeb(Readable.from(all()))
}
