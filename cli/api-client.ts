import type { z } from 'zod'
import type { StreamOptions } from '#client/read-stream.ts'
import type { PatchKind } from '#domain/run.ts'
import { DecisionTalk, RunAgenda, SentToConductor } from '#schemas/agenda-schema.ts'
import { AskReceived, AskView } from '#schemas/ask-schema.ts'
import { ChangePage } from '#schemas/change-schema.ts'
import { type DecisionsBody, DecisionsView, type WantedVerdict } from '#schemas/decision-schema.ts'
import { FindingPage } from '#schemas/finding-schema.ts'
import { DeliveryPage, InstallationPage, InstallationView, PublicationAsked } from '#schemas/github-schema.ts'
import { Cancelled, Retried, type RetryBody } from '#schemas/intake-schema.ts'
import { EdgePage, NodeDetail, NodePage } from '#schemas/node-schema.ts'
import { OperationPage, OperationView } from '#schemas/operation-schema.ts'
import { PatchSets, PlannedCommits } from '#schemas/patch-schema.ts'
import { PlanView } from '#schemas/plan-schema.ts'
import { ProjectBudgetView, ProjectPage, ProjectView } from '#schemas/project-schema.ts'
import { type AnswerBody, QuestionPage, QuestionView } from '#schemas/question-schema.ts'
import { BudgetView, RunAccepted, RunPage, RunView } from '#schemas/run-schema.ts'
import type { RepositoryRunBody, RunRequestBody } from '#schemas/run-request-schema.ts'
import { TranscriptFrame } from '#schemas/transcript-schema.ts'
import { TokenCreated, TokenPage, type TokenRequest } from '#schemas/token-schema.ts'
import { UsageView } from '#schemas/usage-schema.ts'
import { WorkerPage } from '#schemas/worker-schema.ts'
import { type ApiAddress, type ApiConnection, openApiConnection } from './api-connection.ts'
import { decideInSlices, nothingDecided, type WantedDecisions } from './decide-in-slices.ts'

type UsageQuery = Partial<Record<'since' | 'until' | 'by' | 'project_id', string | undefined>>

/** Asks for a decision on one change set; `version` is that of the decision on it that was seen, 0 for none. */
export type SeenDecision = NonNullable<DecisionsBody['decisions']>[number] & { verdict: WantedVerdict }

export type SeenDecisions = { decisions: readonly SeenDecision[]; withDependents?: true }

type ChangeChoice = {
  operation_id?: string
  change_set_id?: string
  where?: Readonly<Record<string, string>>
  context?: number
}

type TranscriptChoice = { format: 'markdown' | 'json'; attempt?: number | undefined }

type Page = { cursor?: string | undefined; limit: number }

/** The API at `url`, a method for each request. Errors and `signal` are as for `ApiConnection`; nothing is repeated. */
export type ApiClient = ReturnType<typeof openApiClient>

export function openApiClient(options: ApiAddress) {
  const connection = openApiConnection(options)
  return {
    ...runCalls(connection),
    ...patchCalls(connection),
    ...operationCalls(connection),
    ...tokenCalls(connection),
    ...budgetCalls(connection),
    ...githubCalls(connection),
  }
}

function runCalls(connection: ApiConnection) {
  const { get, post, postForm } = connection
  return {
    /** Sends the archive while it is read; anew from its start where the service asks for a pause. */
    submit: ({ request, archive }: { request: z.input<typeof RunRequestBody>; archive: AsyncIterable<Uint8Array> }) =>
      postForm('/v1/runs', request, archive, RunAccepted),
    getRun: (runId: string) => get(runPath(runId), RunView),
    /** Asks the service to stop the run, which ends a moment later. RUN_007 when it has ended otherwise. */
    cancel: (runId: string, reason?: string) => post(`${runPath(runId)}/cancel`, { reason }, Cancelled),
    /** Asks the service to delete a run that has ended. RUN_001 when nothing of it is left, RUN_006 while it goes on. */
    deleteRun: (runId: string) => connection.delete(runPath(runId)),
    retry: (runId: string, choice: RetryBody) => post(`${runPath(runId)}/retry`, choice, Retried),
    stream: (runId: string, options: StreamOptions) => connection.stream(`${runPath(runId)}/events`, options),
    readPlan: (runId: string) => get(`${runPath(runId)}/plan`, PlanView),
    /** RUN_012 for a run without an objective. */
    readAgenda: (runId: string) => get(`${runPath(runId)}/agenda`, RunAgenda),
    /** Reads what a decision of its model knew. RUN_004 for what is none. */
    readDecision: (runId: string, seq: number) => get(`${runPath(runId)}/agenda/decisions/${seq}`, DecisionTalk),
    /** Adds to the objective. RUN_007 when nothing is decided in the run any more. */
    say: (runId: string, text: string) => post(`${runPath(runId)}/messages`, { text }, SentToConductor),
    /** Asks something about the run, which may have ended. */
    ask: (runId: string, text: string) => post(`${runPath(runId)}/asks`, { text }, AskReceived),
    readAsk: (runId: string, askId: string) => get(`${runPath(runId)}/asks/${askId}`, AskView),
    /** RUN_011 when the plan of this hash does not wait for approval. */
    approve: (runId: string, planHash: string) =>
      post(`${runPath(runId)}/approval`, { plan_hash: planHash }, SentToConductor),
    listRuns: (page: { before?: string | undefined; limit: number; ended?: 'false' }) => get('/v1/runs', RunPage, page),
    /** Sorted by path. RUN_004 for a run whose nodes were not stored. */
    listNodes: (runId: string, page: Page & { path?: string }) => get(`${runPath(runId)}/nodes`, NodePage, page),
    /** RUN_004 when the run has no such node. */
    getNode: (runId: string, nodeId: string) => get(nodePath(runId, nodeId), NodeDetail),
    listEdges: (runId: string, nodeId: string, page: Page) => get(`${nodePath(runId, nodeId)}/edges`, EdgePage, page),
  }
}

function patchCalls({ get, getStream, post }: ApiConnection) {
  return {
    /** Returns the patch while it arrives, or undefined when it changes nothing. RUN_006, RUN_007 without one. */
    readPatch: async (runId: string, of: PatchKind = 'proposed') =>
      (await getStream(`${runPath(runId)}/patch?of=${of}`))?.body,
    /** Says what is in the patch and what is left out of it. Otherwise it is as `readPatch`. */
    readPatchSets: (runId: string, of: PatchKind) => get(`${runPath(runId)}/patch/sets`, PatchSets, { of }),
    /** Plans a commit for each agent, without these change sets and those that cannot be without them. Otherwise as `readPatch`. */
    readCommits: (runId: string, of: PatchKind, without: readonly string[] = []) =>
      post(`${runPath(runId)}/commits`, { of, without }, PlannedCommits),
    /**
     * Returns a tar.gz of the files that its changes change, as they are after or were before them, while it arrives; undefined when
     * there are none. `composition` names the changes. Otherwise as `readPatch`.
     */
    readChangedFiles: (runId: string, { of, side }: { of: PatchKind; side: 'after' | 'before' }) =>
      getStream(`${runPath(runId)}/archive?of=${of}&files=changed&side=${side}`),
  }
}

function operationCalls({ get, getText, follow, post }: ApiConnection) {
  return {
    /** Follows the order of the plan. */
    listOperations: (runId: string, page: Page & { status?: string | undefined }) =>
      get(`${runPath(runId)}/operations`, OperationPage, page),
    /** RUN_004 when the run has no such operation. */
    getOperation: (runId: string, operationId: string) => get(operationPath(runId, operationId), OperationView),
    /** Lists the changes of one operation, one change set by its id, or all. RUN_004 for an unknown operation. */
    listChanges: (runId: string, { where, ...page }: Page & ChangeChoice) =>
      get(`${runPath(runId)}/changes`, ChangePage, { ...where, ...page }),
    /** Decides on change sets, a thousand a request. `refused` has what was not decided, even if it is all. */
    decide: (runId: string, wanted: WantedDecisions): Promise<DecisionsView> =>
      decideInSlices(runId, wanted, (document) =>
        post(`${runPath(runId)}/decisions`, document, DecisionsView).catch(nothingDecided(runId)),
      ),
    /** Decides on each in this order, or on none of them. WORK_003 refuses what somebody has decided since. */
    decideSeen: (runId: string, { decisions, withDependents }: SeenDecisions): Promise<DecisionsView> => {
      // One alone may take more with it than are made in one step.
      const together = decisions.length > 1 ? { all_or_none: true } : {}
      const document = { decisions, with_dependents: withDependents, ...together }
      return post(`${runPath(runId)}/decisions`, document, DecisionsView).catch(nothingDecided(runId))
    },
    /** The whole conversation of an operation. RUN_006 while there is none yet, RUN_004 where there will be none. */
    readTranscript: (runId: string, operationId: string, choice: TranscriptChoice) =>
      getText(
        transcriptPath(runId, operationId, choice),
        choice.format === 'json' ? 'application/json' : 'text/markdown',
      ),
    /** Yields the same part by part, as it comes, from the attempt that was chosen until the operation has ended. */
    followTranscript: (runId: string, operationId: string, choice: TranscriptChoice) =>
      follow(transcriptPath(runId, operationId, choice), TranscriptFrame),
    /** Follows the order of the plan. */
    listFindings: (runId: string, page: Page & Partial<Record<'agent' | 'path' | 'severity', string>>) =>
      get(`${runPath(runId)}/findings`, FindingPage, page),
    listQuestions: (runId: string, page: Page & { status?: string | undefined }) =>
      get(`${runPath(runId)}/questions`, QuestionPage, page),
    /** ASK_001 for an unknown question; ASK_002, ASK_003 or ASK_005 for one that does not take the answer. */
    answer: (runId: string, requestId: string, answer: z.infer<typeof AnswerBody>['answer']) =>
      post(`${runPath(runId)}/questions/${encodeURIComponent(requestId)}`, { answer }, QuestionView),
  }
}

function tokenCalls(connection: ApiConnection) {
  return {
    /** Makes a token of the caller's project without `project_id`, and one that does not expire without `expires_in_s`. */
    createToken: (token: z.input<typeof TokenRequest>) => connection.post('/v1/tokens', token, TokenCreated),
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
    /** Takes null for any number. Throws RUN_007 when the run has ended. */
    setBudget: (runId: string, tokens: number | null) => put(`${runPath(runId)}/budget`, BudgetView, { tokens }),
    getProjectBudget: (projectId: string) => get(`${projectPath(projectId)}/budget`, ProjectBudgetView),
    setProjectBudget: (projectId: string, tokensPerDay: number | null) =>
      put(`${projectPath(projectId)}/budget`, ProjectBudgetView, { tokens_per_day: tokensPerDay }),
  }
}

function githubCalls({ get, post, put }: ApiConnection) {
  return {
    /** Has the code fetched. HOST_002 for a repository on which the GitHub App is not installed for the project. */
    submitRepository: (request: z.input<typeof RepositoryRunBody>) => post('/v1/runs', request, RunAccepted),
    /** Asks for the pull request of what is accepted. PUBLISH_001, PUBLISH_004 where there cannot be one. */
    publish: (runId: string) => post(`${runPath(runId)}/publish`, {}, PublicationAsked),
    listInstallations: () => get('/v1/github/installations', InstallationPage),
    /** HOST_002 for an unknown one, PROJECT_001 for an unknown project. */
    assignInstallation: (installationId: string, projectId: string) =>
      put(`/v1/github/installations/${encodeURIComponent(installationId)}`, InstallationView, {
        project_id: projectId,
      }),
    listDeliveries: (query: { limit: number; ignored: 'hide' | 'show' }) =>
      get('/v1/github/deliveries', DeliveryPage, query),
  }
}

function transcriptPath(runId: string, operationId: string, { format, attempt }: TranscriptChoice): string {
  const which = attempt === undefined ? '' : `&attempt=${attempt}`
  return `${operationPath(runId, operationId)}/transcript?format=${format}${which}`
}

function operationPath(runId: string, operationId: string): string {
  return `${runPath(runId)}/operations/${encodeURIComponent(operationId)}`
}

function nodePath(runId: string, nodeId: string): string {
  return `${runPath(runId)}/nodes/${encodeURIComponent(nodeId)}`
}

const projectPath = (projectId: string) => `/v1/projects/${encodeURIComponent(projectId)}`
const runPath = (runId: string) => `/v1/runs/${encodeURIComponent(runId)}`
