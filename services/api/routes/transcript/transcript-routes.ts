import { OpenAPIHono } from '@hono/zod-openapi'
import { accepts } from 'hono/accepts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { TranscriptView } from '#schemas/transcript-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { findRun } from '../runs/run-view.ts'
import { transcriptEndpoints } from './transcript-endpoints.ts'
import { transcriptMarkdown } from './transcript-markdown.ts'
import { storedTranscript, type TranscriptRecords, transcriptView } from './transcript-view.ts'

export type TranscriptRouteDeps = {
  ledger: Pick<Ledger, 'getRun' | 'getOperation'>
  records: TranscriptRecords
  /** False leaves the prompts' texts out. */
  fullPrompts: boolean
  redactor: Pick<Redactor, 'value'>
}

const json = 'application/json'
const markdown = 'text/markdown'

export function transcriptRoutes({ ledger, records, fullPrompts, redactor }: TranscriptRouteDeps): OpenAPIHono<ApiEnv> {
  const routes = new OpenAPIHono<ApiEnv>()
  routes.openapi(transcriptEndpoints.transcript, async (c) => {
    const { run_id: runId, operation_id: operationId } = c.req.valid('param')
    const run = await findRun(runId, c.get('caller').projectId, ledger)
    const operation = await ledger.getOperation(run.runId, operationId)
    const stored = await storedTranscript(operation, run.projectId, records)
    const view = transcriptView(operation, stored, { fullPrompts })
    const accepted = accepts(c, { header: 'Accept', supports: [json, markdown], default: json })
    const { format = accepted === markdown ? 'markdown' : 'json' } = c.req.valid('query')
    c.header('vary', 'Accept')
    if (format === 'json') return c.json(view, 200)
    // Before its texts are cut: what is left of a secret would not be recognised.
    const shown = TranscriptView.parse(redactor.value(view))
    return c.body(transcriptMarkdown(shown), 200, { 'content-type': `${markdown}; charset=utf-8` })
  })
  return routes
}
