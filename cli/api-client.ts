import { z } from 'zod'
import type { PatchKind } from '#domain/run.ts'
import type { SkippedFile } from '#domain/code-node.ts'
import { type ApiConnection, openApiConnection } from './api-connection.ts'
import { decideInSlices, nothingDecided, type WantedDecisions, type WantedVerdict } from './decide-in-slices.ts'
import {
  BudgetView,
  EventPage,
  RunAccepted,
  PatchSets,
  PlannedCommits,
  RunPage,
  RunView,
  Time,
  UsageView,
} from './run-views.ts'
import {
  ChangePage,
  DecisionsView,
  FindingPage,
  OperationPage,
  OperationView,
  QuestionPage,
  QuestionView,
} from './operation-views.ts'
import { githubCalls } from './github-calls.ts'
import { EdgePage, NodeDetail, NodePage, PlanView } from './node-views.ts'

export const TokenView = z.looseObject({
  token_id: z.string(),
  name: z.string(),
  scopes: z.array(z.string()),
  expires_at: Time,
  expired: z.boolean(),
  last_used_at: Time,
  requests_per_minute: z.number().nullable().default(null),
  runs: z.number().nullable().default(null),
})
export type TokenView = z.infer<typeof TokenView>

/** `unreadable`: tokens whose records are damaged. They can be revoked. */
const TokenPage = z.object({
  tokens: z.array(TokenView),
  unreadable: z.array(z.object({ token_id: z.string() })).default([]),
})

const ProjectView = z.looseObject({ project_id: z.string(), created_at: Time })

export const ProjectBudgetView = z.looseObject({
  project_id: z.string(),
  tokens_per_day: z.number().nullable(),
  set_by_operator: z.number().nullable(),
  set_by_project: z.number().nullable(),
  used_today: z.number(),
  resets_at: Time,
})
export type ProjectBudgetView = z.infer<typeof ProjectBudgetView>

const ProjectPage = z.object({ projects: z.array(ProjectView) })

type UsageQuery = Partial<Record<'since' | 'until' | 'by' | 'project_id', string | undefined>>

export const WorkerView = z.looseObject({
  worker_id: z.string(),
  version: z.string().nullable(),
  started_at: Time,
  slots: z.number(),
  requests_waiting: z.number(),
  object_store: z.string().nullable().default(null),
  models: z.array(z.looseObject({ model: z.string(), away_since: Time })),
  servers: z.array(z.looseObject({ url: z.string(), limit: z.number(), max_in_flight: z.number() })),
})
export type WorkerView = z.infer<typeof WorkerView>

const WorkerPage = z.object({ workers: z.array(WorkerView) })

/** With the token's text, which is given out this once. */
const TokenCreated = TokenView.extend({ token: z.string() })

type Texts = readonly string[] | undefined

/** The `request` field of `POST /v1/runs`. What is undefined is not sent, as everywhere in this client. */
export type WireRequest = {
  agents: readonly string[]
  paths?: Texts
  exclude?: Texts
  languages?: Texts
  node_kinds?: Texts
  /** Node ids: only these nodes are worked on. */
  nodes?: Texts
  /** Files of the folder that are not in the archive, and why. */
  not_sent?: readonly SkippedFile[] | undefined
  include?: Texts
  /** The run ends once it is planned; `readPlan` returns what it would do. */
  dry_run?: boolean | undefined
  limits?: { operations: number } | undefined
  budget?: { tokens: number } | undefined
  error_policy?: string | undefined
  priority?: number | undefined
}

/**
 * What a retry repeats: `operations` if there are any, what failed with `codes`, or what was `rejected` with a reason; else all that
 * did not end well.
 */
export type RetryChoice = {
  operations: readonly string[]
  codes?: Texts
  rejected?: true | undefined
  errorPolicy?: string | undefined
}

/** On one change set; `version`: of the decision on it that was seen, 0 for none. */
export type SeenDecision = {
  change_set_id: string
  verdict: WantedVerdict
  reason?: string
  retry?: true
  version?: number
}

export type SeenDecisions = { decisions: readonly SeenDecision[]; withDependents?: true }

/** Which change sets, and how many unchanged lines are around their changes. */
type ChangeChoice = {
  operation_id?: string
  change_set_id?: string
  where?: Readonly<Record<string, string>>
  context?: number
}

type NewToken = {
  name?: string | undefined
  scopes?: Texts
  expires_in_s?: number | undefined
  requests_per_minute?: number | undefined
  runs?: number | undefined
  project_id?: string | undefined
}
type Page = { cursor?: string | undefined; limit: number }

/** The API at `url`, a method for each request. Errors and `signal` are as for `ApiConnection`; nothing is repeated. */
export type ApiClient = ReturnType<typeof openApiClient>

export function openApiClient(options: { url: string; token: string | undefined; signal: AbortSignal }) {
  const connection = openApiConnection(options)
  return {
    ...runCalls(connection),
    ...patchCalls(connection),
    ...operationCalls(connection),
    ...tokenCalls(connection),
    ...budgetCalls(connection),
    ...githubCalls(connection),
    close: connection.close,
  }
}

function runCalls(connection: ApiConnection) {
  const { get, post, postForm } = connection
  return {
    /** Sends the archive while it is read; anew from its start where the service asks for a pause. */
    submit: ({ request, archive }: { request: WireRequest; archive: AsyncIterable<Uint8Array> }) =>
      postForm('/v1/runs', { request: JSON.stringify(request), archive }, RunAccepted),
    getRun: (runId: string) => get(runPath(runId), RunView),
    /** Asks the service to stop the run, which ends a moment later. RUN_007 when it has ended otherwise. */
    cancel: (runId: string, reason?: string) => post(`${runPath(runId)}/cancel`, { reason }, RunAccepted),
    /** Asks the service to delete a run that has ended. RUN_001 when nothing of it is left, RUN_006, RUN_010 when it must stay. */
    deleteRun: (runId: string) => connection.delete(runPath(runId)),
    retry: (runId: string, { operations, codes, rejected, errorPolicy }: RetryChoice) => {
      const document = {
        operations: operations.length === 0 ? undefined : operations,
        codes,
        rejected,
        error_policy: errorPolicy,
      }
      return post(`${runPath(runId)}/retry`, document, RunAccepted)
    },
    /** Waits on the server up to `waitMs` (at most 10,000) for the first event after `after`. */
    readEvents: (runId: string, { after, limit, waitMs }: { after: number; limit: number; waitMs: number }) =>
      get(`${runPath(runId)}/events`, EventPage, { after, limit, wait_ms: waitMs }),
    /** Of a run that was submitted with `dry_run` and has ended. */
    readPlan: (runId: string) => get(`${runPath(runId)}/plan`, PlanView),
    /** Newest first. */
    listRuns: (page: { before?: string | undefined; limit: number }) => get('/v1/runs', RunPage, page),
    /** Sorted by path. RUN_004 for a run whose nodes were not stored. */
    listNodes: (runId: string, page: Page & { path?: string }) => get(`${runPath(runId)}/nodes`, NodePage, page),
    /** RUN_004 when the run has no such node. */
    getNode: (runId: string, nodeId: string) => get(nodePath(runId, nodeId), NodeDetail),
    /** RUN_004 also for a run whose edges were not stored. */
    listEdges: (runId: string, nodeId: string, page: Page) => get(`${nodePath(runId, nodeId)}/edges`, EdgePage, page),
  }
}

function patchCalls({ get, getStream, post }: ApiConnection) {
  return {
    /**
     * The patch while it arrives, or undefined when it changes nothing. RUN_006 before it is composed,
     * RUN_007 when the run ended without one.
     */
    readPatch: async (runId: string, of: PatchKind = 'proposed') =>
      (await getStream(`${runPath(runId)}/patch?of=${of}`))?.body,
    /** What is in the patch and what is left out of it. Otherwise as `readPatch`. */
    readPatchSets: (runId: string, of: PatchKind) => get(`${runPath(runId)}/patch/sets`, PatchSets, { of }),
    /**
     * The commits that the patch comes to, one for each agent, without these change sets and those that cannot be without them. Otherwise as
     * `readPatch`.
     */
    readCommits: (runId: string, of: PatchKind, without: readonly string[] = []) =>
      post(`${runPath(runId)}/commits`, { of, without }, PlannedCommits),
    /**
     * A tar.gz of the files that its changes change, as they are after or were before them, while it arrives; undefined when
     * there are none. `composition` names the changes. Otherwise as `readPatch`.
     */
    readChangedFiles: (runId: string, { of, side }: { of: PatchKind; side: 'after' | 'before' }) =>
      getStream(`${runPath(runId)}/archive?of=${of}&files=changed&side=${side}`),
  }
}

function operationCalls({ get, getText, post }: ApiConnection) {
  return {
    /** In the order of the plan. */
    listOperations: (runId: string, page: Page & { status?: string | undefined }) =>
      get(`${runPath(runId)}/operations`, OperationPage, page),
    /** RUN_004 when the run has no such operation. */
    getOperation: (runId: string, operationId: string) => get(operationPath(runId, operationId), OperationView),
    /** Of one operation, or one by its id, or all. RUN_004 when the run has no operation `operation_id`. */
    listChanges: (runId: string, { where, ...page }: Page & ChangeChoice) =>
      get(`${runPath(runId)}/changes`, ChangePage, { ...where, ...page }),
    /**
     * Decides on any number of change sets, a request for each thousand of those that are named. `refused` has what was not
     * decided, also when that is all of it.
     */
    decide: (runId: string, wanted: WantedDecisions): Promise<DecisionsView> =>
      decideInSlices(runId, wanted, (document) =>
        post(`${runPath(runId)}/decisions`, document, DecisionsView).catch(nothingDecided(runId)),
      ),
    /**
     * Decides on each as it says, in this order, or on none of them, and says what was refused: also WORK_003, of what somebody has
     * decided since.
     */
    decideSeen: (runId: string, { decisions, withDependents }: SeenDecisions): Promise<DecisionsView> => {
      // One alone may take more with it than are made in one step.
      const together = decisions.length > 1 ? { all_or_none: true } : {}
      const document = { decisions, with_dependents: withDependents, ...together }
      return post(`${runPath(runId)}/decisions`, document, DecisionsView).catch(nothingDecided(runId))
    },
    /** The whole conversation of an operation. RUN_006 while there is none yet, RUN_004 where there will be none. */
    readTranscript: (runId: string, operationId: string, format: 'markdown' | 'json') =>
      getText(
        `${operationPath(runId, operationId)}/transcript?format=${format}`,
        format === 'json' ? 'application/json' : 'text/markdown',
      ),
    /** In the order of the plan; those of the runs that it retries come last. */
    listFindings: (runId: string, page: Page & Partial<Record<'agent' | 'path' | 'severity', string>>) =>
      get(`${runPath(runId)}/findings`, FindingPage, page),
    /** By number. */
    listQuestions: (runId: string, page: Page & { status?: string | undefined }) =>
      get(`${runPath(runId)}/questions`, QuestionPage, page),
    /** ASK_001 for an unknown question; ASK_002, ASK_003 or ASK_005 for one that does not take the answer. */
    answer: (runId: string, requestId: string, text: string) =>
      post(`${runPath(runId)}/questions/${encodeURIComponent(requestId)}`, { answer: text }, QuestionView),
  }
}

function tokenCalls(connection: ApiConnection) {
  return {
    /** Without `project_id` it is of the caller's project; without `expires_in_s` it does not expire. */
    createToken: (token: NewToken) => connection.post('/v1/tokens', token, TokenCreated),
    listTokens: (projectId?: string) => connection.get('/v1/tokens', TokenPage, { project_id: projectId }),
    /** AUTH_003 when there is none. */
    revokeToken: (tokenId: string) => connection.delete(`/v1/tokens/${encodeURIComponent(tokenId)}`),
    /** Changes nothing when there is one of this id. */
    createProject: (projectId: string) => connection.put(projectPath(projectId), ProjectView),
    listProjects: () => connection.get('/v1/projects', ProjectPage),
    listWorkers: () => connection.get('/v1/workers', WorkerPage),
    getUsage: (query: UsageQuery) => connection.get('/v1/usage', UsageView, query),
  }
}

function budgetCalls({ get, put }: ApiConnection) {
  return {
    /** `tokens` null: any number. RUN_007 when it has ended. */
    setBudget: (runId: string, tokens: number | null) => put(`${runPath(runId)}/budget`, BudgetView, { tokens }),
    getProjectBudget: (projectId: string) => get(`${projectPath(projectId)}/budget`, ProjectBudgetView),
    /** null: any number. */
    setProjectBudget: (projectId: string, tokensPerDay: number | null) =>
      put(`${projectPath(projectId)}/budget`, ProjectBudgetView, { tokens_per_day: tokensPerDay }),
  }
}

function operationPath(runId: string, operationId: string): string {
  return `${runPath(runId)}/operations/${encodeURIComponent(operationId)}`
}

function nodePath(runId: string, nodeId: string): string {
  return `${runPath(runId)}/nodes/${encodeURIComponent(nodeId)}`
}

const projectPath = (projectId: string) => `/v1/projects/${encodeURIComponent(projectId)}`
const runPath = (runId: string) => `/v1/runs/${encodeURIComponent(runId)}`
