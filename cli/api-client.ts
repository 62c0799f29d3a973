import { randomUUID } from 'node:crypto'
import { Readable } from 'node:stream'
import { Agent, request, type Dispatcher } from 'undici'
import type { z } from 'zod'
import { AppError, isErrorCode } from '#domain/error.ts'
import { withoutLogin, withoutLogins } from '#platform/without-login.ts'
import { parseJson } from '#domain/json.ts'
import {
  ChangePage,
  EdgePage,
  EventPage,
  NodeDetail,
  NodePage,
  OperationPage,
  OperationView,
  PlanView,
  Problem,
  QuestionPage,
  QuestionView,
  RunAccepted,
  RunPage,
  RunView,
  TokenCreated,
  TokenPage,
} from './api-views.ts'
import { multipartForm } from './multipart-form.ts'

/** The `request` field of `POST /v1/runs`, as it goes over the wire. */
export type WireRequest = {
  agents: readonly string[]
  paths?: readonly string[]
  exclude?: readonly string[]
  languages?: readonly string[]
  node_kinds?: readonly string[]
  /** Ids: only these are worked on. */
  nodes?: readonly string[]
  include?: readonly string[]
  /** The run ends when it is planned; `readPlan` says what would be done. */
  dry_run?: boolean
  accept: 'none' | 'auto'
  limits?: { operations: number }
  error_policy?: string
  priority?: number
}

export type ApiClient = {
  /** Sends the archive as it is read. Safe to call once; not repeated by itself. */
  submit(submission: { request: WireRequest; archive: AsyncIterable<Uint8Array> }): Promise<RunAccepted>
  /** Asks that the run stop; it ends a moment later. RUN_007 when it has ended otherwise. */
  cancel(runId: string, reason?: string): Promise<RunAccepted>
  /** Starts a run that does again what did not end well, or the named operations if there are any. Safe to call once. */
  retry(runId: string, again: { operations: readonly string[]; errorPolicy?: string }): Promise<RunAccepted>
  getRun(runId: string): Promise<RunView>
  listRuns(page: { before?: string; limit: number }): Promise<RunPage>
  /** Waits on the server up to `waitMs` (at most 10,000) for the first event after `after`. */
  readEvents(runId: string, page: { after: number; limit: number; waitMs: number }): Promise<EventPage>
  listOperations(runId: string, page: { status?: string; cursor?: string; limit: number }): Promise<OperationPage>
  /** Sorted by path. RUN_004 for a run whose nodes were not stored. */
  listNodes(runId: string, page: { path?: string; cursor?: string; limit: number }): Promise<NodePage>
  /** RUN_004 when the run has no such node. */
  getNode(runId: string, nodeId: string): Promise<NodeDetail>
  /** RUN_004 also for a run whose edges were not stored. */
  listEdges(runId: string, nodeId: string, page: { cursor?: string; limit: number }): Promise<EdgePage>
  /** RUN_004 when the run has no such operation. */
  getOperation(runId: string, operationId: string): Promise<OperationView>
  /**
   * The whole conversation of an operation, as the service words it. RUN_006 while there is none yet, RUN_004 where there
   * will be none.
   */
  readTranscript(runId: string, operationId: string, format: 'markdown' | 'json'): Promise<string>
  /** By number. */
  listQuestions(runId: string, page: { status?: string; cursor?: string; limit: number }): Promise<QuestionPage>
  /** ASK_001 for an unknown question, ASK_002, ASK_003 or ASK_005 for one that does not take the answer. */
  answer(runId: string, requestId: string, text: string): Promise<QuestionView>
  /** `operation_id`: only those of one operation; RUN_004 when the run has none of that id. */
  listChanges(runId: string, page: { operation_id?: string; cursor?: string; limit: number }): Promise<ChangePage>
  /** What a run that was submitted with `dry_run` would do; once it has ended. */
  readPlan(runId: string): Promise<PlanView>
  /**
   * The proposed patch while it arrives, or undefined when the run changes nothing. RUN_006 before it is composed,
   * RUN_007 when it ended without one.
   */
  readPatch(runId: string): Promise<AsyncIterable<Uint8Array> | undefined>
  /** Makes a token of the caller's project; without `expiresInS` it stays. Safe to call once. */
  createToken(token: { name?: string; scopes?: readonly string[]; expiresInS?: number }): Promise<TokenCreated>
  listTokens(): Promise<TokenPage>
  /** AUTH_003 when there is none. */
  revokeToken(tokenId: string): Promise<void>
  close(): Promise<void>
}

type Query = Readonly<Record<string, string | number | undefined>>
type Connection = { url: string; token: string | undefined; agent: Agent; signal: AbortSignal }

/**
 * The API at `url`. What it answers as a problem is thrown as an AppError of the same code and phase; no answer is
 * CONFIG_006. Aborting `signal` ends every request with its reason.
 */
export function openApiClient(options: { url: string; token: string | undefined; signal: AbortSignal }): ApiClient {
  const connection = { ...options, agent: new Agent() }
  const get = <T>(path: string, schema: z.ZodType<T>, query: Query = {}) => getJson(connection, path, { schema, query })
  return {
    async submit(submission) {
      const { headers, body } = multipartForm({ ...submission, request: JSON.stringify(submission.request) })
      const answer = await send(connection, '/v1/runs', {
        method: 'POST',
        headers: { ...headers, 'idempotency-key': randomUUID() },
        body: Readable.from(body, { objectMode: false }),
      })
      return readAnswer(answer, RunAccepted, connection)
    },
    getRun: (runId) => get(runPath(runId), RunView),
    listRuns: (page) => get('/v1/runs', RunPage, page),
    readEvents: (runId, { after, limit, waitMs }) =>
      get(`${runPath(runId)}/events`, EventPage, { after, limit, wait_ms: waitMs }),
    listOperations: (runId, page) => get(`${runPath(runId)}/operations`, OperationPage, page),
    listNodes: (runId, page) => get(`${runPath(runId)}/nodes`, NodePage, page),
    getNode: (runId, nodeId) => get(nodePath(runId, nodeId), NodeDetail),
    listEdges: (runId, nodeId, page) => get(`${nodePath(runId, nodeId)}/edges`, EdgePage, page),
    getOperation: (runId, operationId) => get(operationPath(runId, operationId), OperationView),
    async readTranscript(runId, operationId, format) {
      const path = `${operationPath(runId, operationId)}/transcript?format=${format}`
      const answer = await send(connection, path, { method: 'GET' })
      return readText(answer, format === 'json' ? 'application/json' : 'text/markdown', connection)
    },
    listQuestions: (runId, page) => get(`${runPath(runId)}/questions`, QuestionPage, page),
    listChanges: (runId, page) => get(`${runPath(runId)}/changes`, ChangePage, page),
    readPlan: (runId) => get(`${runPath(runId)}/plan`, PlanView),
    async readPatch(runId) {
      const answer = await send(connection, `${runPath(runId)}/patch?of=proposed`, { method: 'GET' })
      if (answer.statusCode !== 204) return answer.body
      await answer.body.dump()
      return undefined
    },
    ...steeringCalls(connection),
    ...tokenCalls(connection),
    close: () => connection.agent.destroy(),
  }
}

function steeringCalls(connection: Connection): Pick<ApiClient, 'cancel' | 'retry' | 'answer'> {
  return {
    answer: (runId, requestId, text) =>
      postJson(
        connection,
        `${runPath(runId)}/questions/${encodeURIComponent(requestId)}`,
        { answer: text },
        QuestionView,
      ),
    cancel: (runId, reason) =>
      postJson(connection, `${runPath(runId)}/cancel`, reason === undefined ? {} : { reason }, RunAccepted),
    retry: (runId, { operations, errorPolicy }) =>
      postJson(
        connection,
        `${runPath(runId)}/retry`,
        {
          ...(operations.length === 0 ? {} : { operations }),
          ...(errorPolicy === undefined ? {} : { error_policy: errorPolicy }),
        },
        RunAccepted,
      ),
  }
}

function tokenCalls(connection: Connection): Pick<ApiClient, 'createToken' | 'listTokens' | 'revokeToken'> {
  return {
    createToken: ({ expiresInS, ...token }) =>
      postJson(
        connection,
        '/v1/tokens',
        { ...token, ...(expiresInS === undefined ? {} : { expires_in_s: expiresInS }) },
        TokenCreated,
      ),
    listTokens: () => getJson(connection, '/v1/tokens', { schema: TokenPage, query: {} }),
    async revokeToken(tokenId) {
      const answer = await send(connection, `/v1/tokens/${encodeURIComponent(tokenId)}`, { method: 'DELETE' })
      await answer.body.dump()
    },
  }
}

async function getJson<T>(
  connection: Connection,
  path: string,
  { schema, query }: { schema: z.ZodType<T>; query: Query },
): Promise<T> {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  const answer = await send(connection, search.size === 0 ? path : `${path}?${search.toString()}`, { method: 'GET' })
  return readAnswer(answer, schema, connection)
}

async function postJson<T>(connection: Connection, path: string, document: object, schema: z.ZodType<T>): Promise<T> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
  const body = JSON.stringify(document)
  const answer = await send(connection, path, { method: 'POST', headers, body })
  return readAnswer(answer, schema, connection)
}

async function readAnswer<T>(
  answer: Dispatcher.ResponseData,
  schema: z.ZodType<T>,
  connection: Connection,
): Promise<T> {
  const parsed = schema.safeParse(parseJson(await wholeBody(answer, connection)))
  if (!parsed.success) throw strangeAnswer(connection.url, answer.statusCode, '')
  return parsed.data
}

/** A text of another type is another program's. */
async function readText(answer: Dispatcher.ResponseData, type: string, connection: Connection): Promise<string> {
  const text = await wholeBody(answer, connection)
  const given = String(answer.headers['content-type']).split(';')[0]
  if (given !== type) throw strangeAnswer(connection.url, answer.statusCode, '')
  return text
}

function wholeBody({ body }: Dispatcher.ResponseData, { url, signal }: Connection): Promise<string> {
  return body.text().catch((error: unknown) => {
    signal.throwIfAborted()
    throw noAnswer(url, error)
  })
}

type Outgoing = { method: 'GET' | 'POST' | 'DELETE'; headers?: Record<string, string>; body?: Readable | string }

async function send(connection: Connection, path: string, outgoing: Outgoing): Promise<Dispatcher.ResponseData> {
  const { url, token, agent, signal } = connection
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const headers = { ...outgoing.headers, ...authorization }
  const answer = await request(`${url}${path}`, { ...outgoing, headers, dispatcher: agent, signal }).catch(
    (error: unknown) => {
      signal.throwIfAborted()
      throw noAnswer(url, error)
    },
  )
  if (answer.statusCode < 300) return answer
  throw problemError(url, answer.statusCode, await answer.body.text().catch(() => ''))
}

/** A failure of our own upload stream keeps its code. */
function noAnswer(url: string, cause: unknown): AppError {
  if (cause instanceof AppError) return cause
  const [reason = ''] = (cause instanceof Error ? cause.message || cause.name : String(cause)).trim().split('\n')
  const advice = 'see that it runs there, or correct REMORA_API_URL'
  return new AppError(
    'CONFIG_006',
    `The service at ${withoutLogin(url)} does not answer: ${withoutLogins(reason)}; ${advice}`,
    { cause },
  )
}

function problemError(url: string, status: number, body: string): AppError {
  const problem = readProblem(body)
  const words = problem?.detail ?? problem?.title ?? ''
  if (!isErrorCode(problem?.error_code)) return strangeAnswer(url, status, words)
  return new AppError(problem.error_code, words, problem.phase === undefined ? {} : { phase: problem.phase })
}

/** Another program, a proxy before the service, or a service of another version. */
function strangeAnswer(url: string, status: number, words: string): AppError {
  const said = words === '' ? `status ${status}` : `${status}: ${words}`
  return new AppError(
    'CONFIG_006',
    `${withoutLogin(url)} does not answer as a Remora of this version does (${said}): correct REMORA_API_URL, or see what runs there`,
  )
}

function readProblem(body: string): Problem | undefined {
  return Problem.safeParse(parseJson(body)).data
}

function operationPath(runId: string, operationId: string): string {
  return `${runPath(runId)}/operations/${encodeURIComponent(operationId)}`
}

function nodePath(runId: string, nodeId: string): string {
  return `${runPath(runId)}/nodes/${encodeURIComponent(nodeId)}`
}

function runPath(runId: string): string {
  return `/v1/runs/${encodeURIComponent(runId)}`
}
