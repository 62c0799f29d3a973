import { OpenAPIHono, z } from '@hono/zod-openapi'
import { accepts } from 'hono/accepts'
import { isEndedOperation, type Operation } from '#domain/operation.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { TranscriptFrame, TranscriptView, type TranscriptEntry } from '#schemas/transcript-schema.ts'
import type { ApiEnv } from '../../http/api-env.ts'
import { openStreams, type StreamDeps, wantsStream } from '../events/event-routes.ts'
import { findRun } from '../runs/run-view.ts'
import { transcriptMarkdown, followedMarkdown } from './transcript-markdown.ts'
import {
  shownAttempt,
  storedTranscript,
  type TranscriptRecords,
  transcriptView,
  attemptsOf,
} from './transcript-view.ts'
import { OperationId } from '#domain/ids.ts'
import { RunParams } from '#schemas/run-schema.ts'
import { endpoint } from '../../http/endpoint.ts'
import { wholeNumber } from '../../http/schema-parts.ts'
import { comparePositions, type EventLog, type LogEntry, type Position } from '../events/follow-log.ts'

const prose = `
Every message in order, with the times, tokens and errors of each request to the model and the whole answer of each tool.
The answer is JSON, or with \`Accept: text/markdown\` or \`format=markdown\` a text for people. Nothing is cut, except that the
text shortens the external calls of scripts and leaves out the raw reply of the server.

While the operation runs, it is what the attempt has said so far, some 100 ms late, without the raw replies; while it waits for a person, the
last entry is the question. In both \`outcome\` is null. RUN_006 before the first attempt has begun. An attempt that was handed
back, or whose worker was lost, leaves what it had said: \`attempts\` lists those with a conversation of their own, and
\`attempt\` asks for one. One that a later attempt goes on from is in the conversation of that. RUN_004 for an attempt that there is not, and for an operation that ended
before it began, or whose attempt said nothing.

With \`Accept: text/event-stream\`, or as a WebSocket, it is followed entry by entry as it comes, with the frames of the
events' stream: \`connected\`; entries, whose data is \`{"attempt","entry"}\`, or with \`format=markdown\`
\`{"attempt","markdown"}\`, also for the heading and the outcome; and \`end\` with \`{"run_id","operation_id","status"}\` when the operation has ended.
It goes on from attempt to attempt, and begins with the conversation of the one that is asked for. \`Last-Event-ID\`, or \`after\`, continues it, so that no entry is missed or comes twice.`

const TranscriptFormat = z.enum(['json', 'markdown']).openapi('TranscriptFormat')

const EntryId = z
  .string()
  .regex(/^\d{1,6}-\d{1,6}(?:\.1)?$/, 'not the id of an entry')
  .optional()

export const transcriptEndpoints = {
  transcript: endpoint('runs:read', ['RUN_004', 'RUN_006', 'STORE_002', 'STORE_003'], {
    method: 'get',
    path: '/v1/runs/{run_id}/operations/{operation_id}/transcript',
    operationId: 'getTranscript',
    summary: 'The whole conversation of one operation',
    description: prose.trim(),
    request: {
      params: RunParams.extend({ operation_id: OperationId }),
      headers: z.object({
        'last-event-id': EntryId.openapi({ description: 'of a stream that is continued: the last id you have' }),
      }),
      query: z.strictObject({
        format: TranscriptFormat.optional().openapi({ param: { description: 'takes precedence over `Accept`' } }),
        attempt: wholeNumber(1, 999_999).optional().openapi({ description: 'the last one without it' }),
        after: EntryId.openapi({ description: 'the same as `Last-Event-ID`, which takes precedence' }),
      }),
    },
    responses: {
      200: {
        description: 'the transcript',
        content: {
          'application/json': { schema: TranscriptView },
          'text/markdown': { schema: z.string() },
          'text/event-stream': { schema: z.string(), itemSchema: TranscriptFrame },
        },
      },
    },
  }),
} as const

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

type TranscriptLogDeps = {
  ledger: Pick<Ledger, 'getOperation' | 'talkVersion'>
  format: 'json' | 'markdown'
  /** Reads the conversation of one attempt. */
  read(operation: Operation, attempt: number): Promise<TranscriptView>
  withoutSecrets(view: TranscriptView): TranscriptView
}

/**
 * Makes a log of the conversation of an operation: `<attempt>-<n>` is behind the n-th entry of what began with that attempt, also where
 * later ones have gone on from it. Its question is at `<attempt>-<n>.1`, since the answer comes in place of it.
 */
function transcriptLog(
  { runId, operationId }: Pick<Operation, 'runId' | 'operationId'>,
  { ledger, read, ...shown }: TranscriptLogDeps,
): EventLog {
  const readAfter = async (after: Position) => {
    const operation = await ledger.getOperation(runId, operationId)
    const entries: LogEntry[] = []
    let began = 1
    for (const attempt of attemptsOf(operation)) {
      if (began >= Number.parseInt(after, 10))
        entries.push(...partsBehind(await read(operation, attempt), { began, after, ...shown }))
      began = attempt + 1
    }
    const at = entries.at(-1)?.id ?? after
    const end = { run_id: runId, operation_id: operationId, status: operation.status }
    return { entries, at, last: at, ...(isEndedOperation(end.status) ? { isOver: true, end } : { isOver: false }) }
  }
  let seen = ''
  return {
    name: [runId, operationId, shown.format].join(' '),
    ofRun: runId,
    state: { last: '0', isOver: false },
    async *look({ last }) {
      const version = await ledger.talkVersion(runId, operationId)
      if (version === seen) return
      yield await readAfter(last)
      seen = version
    },
    read: readAfter,
  }
}

type Wanted = Pick<TranscriptLogDeps, 'format' | 'withoutSecrets'> & { began: number; after: Position }

/** Makes parts only of what is behind a position, since a conversation is long. `began`: the attempt that it began with. */
function partsBehind(whole: TranscriptView, { began, after, format, withoutSecrets }: Wanted): LogEntry[] {
  const idOf = ({ kind }: TranscriptEntry, index: number) =>
    kind === 'question' ? `${began}-${index}.1` : `${began}-${index + 1}`
  const ids = whole.entries.map(idOf).filter((id) => comparePositions(id, after) > 0)
  const rest = whole.entries.slice(whole.entries.length - ids.length)
  const view = withoutSecrets({ ...whole, entries: rest.map(withoutRaw) })
  const { attempt, attempts, entries, outcome } = view
  const part = (id: Position, value: object) => ({ id, category: '', json: JSON.stringify({ attempt, ...value }) })
  if (format === 'json') return ids.map((id, index) => part(id, { entry: entries[index] }))
  const texts = followedMarkdown.entries(view)
  const isOver = outcome !== null || attempts.some((later) => later > attempt)
  return [
    part(`${began}-0`, { markdown: followedMarkdown.heading(view) }),
    ...ids.map((id, index) => part(id, { markdown: texts[index] })),
    ...(isOver ? [part(`${began}-999999`, { markdown: followedMarkdown.ending(withoutSecrets(whole)) })] : []),
  ].filter(({ id }) => comparePositions(id, after) > 0)
}

/** A raw reply is only in a record: the same entry is the same while the attempt runs and afterwards. */
function withoutRaw(entry: TranscriptEntry): TranscriptEntry {
  return entry.kind === 'model' && entry.reply !== null ? { ...entry, reply: { ...entry.reply, raw: null } } : entry
}
