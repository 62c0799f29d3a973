import { AppError, asAppError } from '#domain/error.ts'
import { newToken, type ProjectId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { StopSignals } from '#ledger/stop-signals.ts'
import type { Log } from '#platform/log.ts'
import { runAgent, type AgentRun, type Ending } from '../agent/run-agent.ts'
import type { PreparedBundle } from '../agent/prepared-bundle.ts'
import { openTranscript } from '../agent/transcript.ts'
import type { BaseLayer } from '../workspace/open-workspace.ts'
import { openWorkspace } from '../workspace/open-workspace.ts'
import { openTargetNode } from '../tools/target-node.ts'
import { openAttemptJournal } from './attempt-journal.ts'
import { openAttemptStop } from './attempt-stop.ts'
import { giveUp, isStoreFault } from './give-up.ts'
import { promptsFor, type Prompts } from './prompts.ts'
import type { RunningAttempt } from './running-attempt.ts'
import { settleOperation, type SettleDeps } from './settle-operation.ts'
import { attemptTools, type AttemptToolDeps } from './attempt-tools.ts'

/** What a job on the `operations` queue names. */
export type OperationJob = { runId: string; operationId: string; dispatch: number }

export type OperationDeps = SettleDeps &
  AttemptToolDeps & {
    ledger: Pick<Ledger, 'claim' | 'append' | 'settle' | 'release'>
    stops: Pick<StopSignals, 'on'>
    bundles(project: ProjectId, hash: string): Promise<PreparedBundle>
    baseLayer(project: ProjectId, snapshotId: string): Promise<BaseLayer>
    model: AgentRun['model']
    /** AGENT_002 when no model server says which model it has. */
    modelSettings(signal: AbortSignal): Promise<{ model: string; temperature: number }>
    workerId: string
    storeRestMs: number
    log: Pick<Log, 'debug' | 'warn' | 'error'>
  }

/**
 * One delivery of one operation: claim it, run its agent in a fresh workspace, settle it. A delivery that is stale, or
 * somebody else's, does nothing. Running it twice settles it once: the ledger checks the token. `signal` is this worker's
 * own end: what is under way then is handed back.
 */
export async function runOperation(job: OperationJob, deps: OperationDeps, signal: AbortSignal): Promise<void> {
  const answer = await deps.ledger.claim(job, newToken())
  if (answer.kind !== 'claimed') return // done with, or another worker's: should that one be lost, the sweeper finds out
  const { attempt } = answer
  const journal = openAttemptJournal(attempt, deps.ledger, deps.workerId)
  const unhear = deps.stops.on(attempt.runId, journal.askNow)
  const startedAt = Date.now()
  try {
    const running = { attempt, startedAt, journal, ...(await prepare(attempt, deps)) }
    await settleOperation(running, await endingOf(running, deps, signal), deps)
  } catch (error) {
    await giveUp({ attempt, journal, signal }, error, deps)
  } finally {
    unhear()
  }
}

type Prepared = Pick<RunningAttempt, 'bundle' | 'workspace' | 'target' | 'transcript'>

async function prepare(attempt: Attempt, deps: OperationDeps): Promise<Prepared> {
  const bundle = await deps.bundles(attempt.projectId, attempt.bundleHash)
  const workspace = openWorkspace(await deps.baseLayer(attempt.projectId, attempt.snapshotId))
  const target = await openTargetNode(attempt.node, workspace)
  const prompts: Prompts = await promptsFor(bundle, target)
  return { bundle, workspace, target, transcript: openTranscript(prompts.system, prompts.node) }
}

/** The agent's ending, or what its failure comes to; thrown is what leaves the operation to another attempt. */
async function endingOf(running: RunningAttempt, deps: OperationDeps, signal: AbortSignal): Promise<Ending> {
  const { journal, transcript, bundle } = running
  const { max_tokens: maxTokens, max_turns: maxTurns, timeout_s: timeoutS } = bundle.bundle.file.limits
  const tools = attemptTools(running, deps)
  const stop = openAttemptStop([signal, journal.signal], timeoutS * 1000)
  try {
    const settings = { ...(await deps.modelSettings(stop.signal)), maxTokens, maxTurns }
    return await runAgent({ transcript, tools, model: deps.model, settings, journal }, stop.signal)
  } catch (error) {
    const fault = asAppError(error, 'TOOL_004', 'execution')
    if (signal.aborted || journal.stopped === 'lost' || isStoreFault(fault)) throw fault
    if (journal.stopped === 'cancelled') return stoppedBy(asAppError(journal.signal.reason, 'AGENT_010'), 'execution')
    if (stop.isTimeUp) return stoppedBy(new AppError('AGENT_006', `no submission within ${timeoutS} s`), 'model')
    return stoppedBy(fault, fault.code.startsWith('AGENT_') ? 'model' : 'execution')
  } finally {
    stop.release()
  }
}

function stoppedBy({ code, message }: AppError, phase: 'model' | 'execution'): Ending {
  return { kind: 'stopped', code, phase, reason: message }
}
