import type { SkippedFile } from '#domain/code-node.ts'
import { isEnded, type RunPhase, type RunStatus } from '#domain/run.ts'
import type { RunView } from '#schemas/run-schema.ts'

export const shownPhases = ['snapshot', 'discovery', 'planning', 'execution', 'review'] as const satisfies RunPhase[]
export type ShownPhase = (typeof shownPhases)[number]

export type AgentProgress = {
  running: number
  succeeded: number
  unchanged: number
  skipped: number
  /** Ended with the run, before their work was done. */
  cancelled: number
  failed: number
  /** Counts replies of the model. */
  requests: number
  tokens: number
  findings: number
  /** Counts change sets of the succeeded ones that are not in the patch. */
  leftOut: number
  /** Model and tool time of all ended operations; more than wall time, because they run in parallel. */
  workMs: number
}

/** A question that an operation waits for a person to answer. `work`: its agent and node. */
export type OpenQuestion = {
  requestId: string
  operationId: string
  work: string
  text: string
  choices: string[]
  /** A call that waits for approval. */
  call?: { tool: string; arguments: string } | undefined
}

export type ProgressState = {
  runId: string
  status: RunStatus
  phase: ShownPhase
  settingUp?: string | undefined
  files?: number
  nodes?: number
  skippedFiles: readonly SkippedFile[]
  /** Is true when the command that follows the run ends it when its model servers never answer. */
  checksServers: boolean
  /** Is true once its plan is made; the next generation of a run has none of its own. */
  isPlanned: boolean
  /** Is true when a conductor may add further operations at any time. */
  isConducted: boolean
  /** Is when somebody approved its plan last. */
  approvedAtMs?: number
  /** Counts the operations that are planned by now. */
  total?: number
  /** Counts those that run once more, since their first changes collided with others. */
  repeated: number
  agents: Readonly<Record<string, AgentProgress>>
  /** They are in the order they were asked. */
  questions: readonly OpenQuestion[]
  /** Is the run as the service showed it last: what moves in it, and what it waits for. */
  seen?: RunView | undefined
  recent: readonly string[]
  /** Says what agents found last. */
  findings: readonly string[]
  /** Names of the models that answered, as their servers report them. */
  models: readonly string[]
  changeSets: number
  /** Files that the patch changes; 0 until it is composed. */
  patchFiles: number
  startedAtMs?: number
  lastAtMs?: number
}

export function emptyProgress(runId: string): ProgressState {
  return {
    runId,
    status: 'queued',
    phase: 'snapshot',
    skippedFiles: [],
    checksServers: false,
    isPlanned: false,
    isConducted: false,
    repeated: 0,
    agents: {},
    questions: [],
    recent: [],
    findings: [],
    models: [],
    changeSets: 0,
    patchFiles: 0,
  }
}

export function emptyAgent(): AgentProgress {
  const ends = { succeeded: 0, unchanged: 0, skipped: 0, cancelled: 0, failed: 0 }
  return { running: 0, ...ends, requests: 0, tokens: 0, findings: 0, leftOut: 0, workMs: 0 }
}

/** The run as it was seen last, unless its events say by now that it has ended. */
export function goingOn({ seen, status }: Pick<ProgressState, 'seen' | 'status'>): RunView | undefined {
  return isEnded(status) ? undefined : seen
}

export function endedOperations(state: ProgressState): number {
  return sum(state, operationsOf)
}

export function operationsOf({ succeeded, unchanged, skipped, cancelled, failed }: AgentProgress): number {
  return succeeded + unchanged + skipped + cancelled + failed
}

export function cancelledOperations(state: ProgressState): number {
  return sum(state, (agent) => agent.cancelled)
}

export function failedOperations(state: ProgressState): number {
  return sum(state, (agent) => agent.failed)
}

/** Is true when its change sets were put together: a run fails after that when none of its operations ended well, and is blocked after it. */
export function isComposed(status: string, { phase }: ProgressState): boolean {
  return status === 'completed' || status === 'blocked' || (status === 'failed' && phase === 'review')
}

export function runningOperations(state: ProgressState): number {
  return sum(state, (agent) => agent.running)
}

function sum({ agents }: ProgressState, of: (agent: AgentProgress) => number): number {
  return Object.values(agents).reduce((total, agent) => total + of(agent), 0)
}

/** Is true when some operations failed, and none succeeded or had nothing to change. */
export function isFruitless(state: ProgressState): boolean {
  const agents = Object.values(state.agents)
  return failedOperations(state) > 0 && agents.every(({ succeeded, unchanged }) => succeeded + unchanged === 0)
}
