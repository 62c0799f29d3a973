import { OpenAPIHono } from '@hono/zod-openapi'
import { accepts } from 'hono/accepts'
import { isEndedOperation, type Operation } from '#domain/operation.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { TranscriptView } from '#schemas/transcript-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { openStreams, type StreamDeps, wantsStream } from '../events/event-routes.ts'
import { findRun } from '../runs/run-view.ts'
import { transcriptEndpoints } from './transcript-endpoints.ts'
import { transcriptLog } from './transcript-log.ts'
import { transcriptMarkdown } from './transcript-markdown.ts'
import { shownAttempt, storedTranscript, type TranscriptRecords, transcriptView } from './transcript-view.ts'

export type TranscriptRouteDeps = StreamDeps & {
  ledger: Pick<Ledger, 'getRun' | 'getOperation' | 'readTalk' | 'talkVersion'>
  records: TranscriptRecords
  /** False leaves the prompts' texts out. */
  fullPrompts: boolean
  redactor: Pick<Redactor, 'value'>
}

const json = 'application/json'
const markdown = 'text/markdown'

export function transcriptRoutes({ ledger, fullPrompts, redactor, ...deps }: TranscriptRouteDeps): OpenAPIHono<ApiEnv> {
  const records = { ...deps.records, readTalk: ledger.readTalk }
  const answer = openStreams(deps)
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(transcriptEndpoints.transcript, async (c) => {
    const { run_id: runId, operation_id: operationId } = c.req.valid('param')
    const run = await findRun(runId, c.get('caller').projectId, ledger)
    const operation = await ledger.getOperation(run.runId, operationId)
    const { attempt, ...query } = c.req.valid('query')
    const read = async (of: Operation, own: number) =>
      transcriptView(of, await storedTranscript(of, run, { records, attempt: own }), { fullPrompts })
    const withoutSecrets = (view: TranscriptView) => TranscriptView.parse(redactor.value(view))
    c.header('vary', 'Accept')
    if (wantsStream(c)) {
      if (attempt !== undefined || isEndedOperation(operation.status)) shownAttempt(operation, attempt)
      const events = transcriptLog(operation, { ledger, format: query.format ?? 'json', read, withoutSecrets })
      const before = operation.keptAttempts.findLast((kept) => kept < (attempt ?? 1)) ?? 0
      const after = c.req.valid('header')['last-event-id'] ?? query.after ?? `${before}-999999`
      const { entries } = await events.read(after)
      const first = { type: 'connected', id: after, missed: entries.length } as const
      return answer(c, { events, first, after, categories: undefined })
    }
    let view = await read(operation, shownAttempt(operation, attempt))
    // What an attempt has said becomes its record when it ends, which may have been between the reads.
    const now = view.status === 'running' ? await ledger.getOperation(run.runId, operationId) : operation
    if (now.status !== operation.status || now.attempt !== operation.attempt)
      view = await read(now, shownAttempt(now, attempt))
    const accepted = accepts(c, { header: 'Accept', supports: [json, markdown], default: json })
    const { format = accepted === markdown ? 'markdown' : 'json' } = query
    if (format === 'json') return c.json(view, 200)
    // Before its texts are cut: what is left of a secret would not be recognised.
    return c.body(transcriptMarkdown(withoutSecrets(view)), 200, { 'content-type': `${markdown}; charset=utf-8` })
  })
  return routes
}
