import { openApiConnection, type ApiConnection } from './api-connection.ts'
import {
  ChangePage,
  EdgePage,
  EventPage,
  NodeDetail,
  NodePage,
  OperationPage,
  OperationView,
  PlanView,
  QuestionPage,
  QuestionView,
  RunAccepted,
  RunPage,
  RunView,
  TokenCreated,
  TokenPage,
} from './api-views.ts'

/** The `request` field of `POST /v1/runs` on the wire. */
export type WireRequest = {
  agents: readonly string[]
  paths?: readonly string[]
  exclude?: readonly string[]
  languages?: readonly string[]
  node_kinds?: readonly string[]
  /** Node ids: only these nodes are worked on. */
  nodes?: readonly string[]
  include?: readonly string[]
  /** The run ends once it is planned; `readPlan` returns what it would do. */
  dry_run?: boolean
  limits?: { operations: number }
  error_policy?: string
  priority?: number
}

type Page = { cursor?: string; limit: number }

/** The API at `url`, a method for each request. Errors and `signal` are as for `ApiConnection`; nothing is repeated. */
export type ApiClient = ReturnType<typeof openApiClient>

export function openApiClient(options: { url: string; token: string | undefined; signal: AbortSignal }) {
  const connection = openApiConnection(options)
  return {
    ...runCalls(connection),
    ...listCalls(connection),
    ...operationCalls(connection),
    ...tokenCalls(connection),
    close: connection.close,
  }
}

function runCalls({ get, getStream, post, postForm }: ApiConnection) {
  return {
    /** Sends the archive while it is read. */
    submit: ({ request, archive }: { request: WireRequest; archive: AsyncIterable<Uint8Array> }) =>
      postForm('/v1/runs', { request: JSON.stringify(request), archive }, RunAccepted),
    getRun: (runId: string) => get(runPath(runId), RunView),
    /** Asks the service to stop the run, which ends a moment later. RUN_007 when it has ended otherwise. */
    cancel: (runId: string, reason?: string) =>
      post(`${runPath(runId)}/cancel`, reason === undefined ? {} : { reason }, RunAccepted),
    /** Starts a run that tries again what did not end well, or only `operations` if there are any. */
    retry: (runId: string, { operations, errorPolicy }: { operations: readonly string[]; errorPolicy?: string }) => {
      const document = {
        ...(operations.length > 0 && { operations }),
        ...(errorPolicy !== undefined && { error_policy: errorPolicy }),
      }
      return post(`${runPath(runId)}/retry`, document, RunAccepted)
    },
    /** Waits on the server up to `waitMs` (at most 10,000) for the first event after `after`. */
    readEvents: (runId: string, { after, limit, waitMs }: { after: number; limit: number; waitMs: number }) =>
      get(`${runPath(runId)}/events`, EventPage, { after, limit, wait_ms: waitMs }),
    /** Of a run that was submitted with `dry_run` and has ended. */
    readPlan: (runId: string) => get(`${runPath(runId)}/plan`, PlanView),
    /**
     * The proposed patch while it arrives, or undefined when the run changes nothing. RUN_006 before it is composed,
     * RUN_007 when the run ended without one.
     */
    readPatch: (runId: string) => getStream(`${runPath(runId)}/patch?of=proposed`),
  }
}

function listCalls({ get }: ApiConnection) {
  return {
    /** Newest first. */
    listRuns: (page: { before?: string; limit: number }) => get('/v1/runs', RunPage, page),
    /** In the order of the plan. */
    listOperations: (runId: string, page: Page & { status?: string }) =>
      get(`${runPath(runId)}/operations`, OperationPage, page),
    /** Sorted by path. RUN_004 for a run whose nodes were not stored. */
    listNodes: (runId: string, page: Page & { path?: string }) => get(`${runPath(runId)}/nodes`, NodePage, page),
    /** RUN_004 also for a run whose edges were not stored. */
    listEdges: (runId: string, nodeId: string, page: Page) => get(`${nodePath(runId, nodeId)}/edges`, EdgePage, page),
    /** By number. */
    listQuestions: (runId: string, page: Page & { status?: string }) =>
      get(`${runPath(runId)}/questions`, QuestionPage, page),
    /** RUN_004 when the run has no operation `operation_id`. */
    listChanges: (runId: string, page: Page & { operation_id?: string }) =>
      get(`${runPath(runId)}/changes`, ChangePage, page),
  }
}

function operationCalls({ get, getText, post }: ApiConnection) {
  return {
    /** RUN_004 when the run has no such node. */
    getNode: (runId: string, nodeId: string) => get(nodePath(runId, nodeId), NodeDetail),
    /** RUN_004 when the run has no such operation. */
    getOperation: (runId: string, operationId: string) => get(operationPath(runId, operationId), OperationView),
    /** The whole conversation of an operation. RUN_006 while there is none yet, RUN_004 where there will be none. */
    readTranscript: (runId: string, operationId: string, format: 'markdown' | 'json') =>
      getText(
        `${operationPath(runId, operationId)}/transcript?format=${format}`,
        format === 'json' ? 'application/json' : 'text/markdown',
      ),
    /** ASK_001 for an unknown question; ASK_002, ASK_003 or ASK_005 for one that does not take the answer. */
    answer: (runId: string, requestId: string, text: string) =>
      post(`${runPath(runId)}/questions/${encodeURIComponent(requestId)}`, { answer: text }, QuestionView),
  }
}

function tokenCalls(connection: ApiConnection) {
  return {
    /** Makes a token of the caller's project; without `expiresInS` it does not expire. */
    createToken: ({ expiresInS, ...token }: { name?: string; scopes?: readonly string[]; expiresInS?: number }) => {
      const document = { ...token, ...(expiresInS !== undefined && { expires_in_s: expiresInS }) }
      return connection.post('/v1/tokens', document, TokenCreated)
    },
    listTokens: () => connection.get('/v1/tokens', TokenPage),
    /** AUTH_003 when there is none. */
    revokeToken: (tokenId: string) => connection.delete(`/v1/tokens/${encodeURIComponent(tokenId)}`),
  }
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
