import { AppError, asAppError } from '#domain/error.ts'
import { newToken } from '#domain/ids.ts'
import type { Submission } from '#domain/turn.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { StopSignals } from '#ledger/stop-signals.ts'
import type { Log } from '#platform/log.ts'
import type { EvidenceChecker } from '../evidence/evidence-checker.ts'
import { runAgent, type AgentRun, type Ending, type Suspension } from '../agent/run-agent.ts'
import { openAttemptJournal } from './attempt/attempt-journal.ts'
import { openAttemptStop, type AttemptStop } from './attempt/attempt-stop.ts'
import { giveUp } from './ending/give-up.ts'
import { prepareAttempt, type PrepareDeps } from './attempt/prepare-attempt.ts'
import { makeLintFixes } from './mechanical/make-lint-fixes.ts'
import { settleMechanical } from './mechanical/settle-mechanical.ts'
import { openProof } from './proof/prove-changes.ts'
import type { RunningAttempt } from './attempt/running-attempt.ts'
import { settleOperation, type SettleDeps } from './ending/settle-operation.ts'
import { suspendOperation, type SuspendDeps } from './ending/suspend-operation.ts'
import { isStoreFault } from './store-fault.ts'
import { verifySubmission } from './proof/verify-submission.ts'
import { attemptSettings } from './attempt/attempt-settings.ts'
import { attemptTools, type AttemptToolDeps } from './attempt/attempt-tools.ts'

/** What a job on the `operations` queue names. */
export type OperationJob = { runId: string; operationId: string; dispatch: number }

export type OperationDeps = SettleDeps &
  SuspendDeps &
  PrepareDeps &
  AttemptToolDeps & {
    ledger: Pick<Ledger, 'claim' | 'append' | 'settle' | 'release' | 'suspend'>
    stops: Pick<StopSignals, 'on'>
    model: AgentRun['model']
    evidence: EvidenceChecker
    workerId: string
    storeRestMs: number
    log: Pick<Log, 'debug' | 'warn' | 'error'>
  }

/**
 * One delivery of one operation: claim it, run its agent in a workspace, settle it, or let it wait for a person. A
 * delivery that is stale, or somebody else's, does nothing. Running it twice settles it once: the ledger checks the
 * token. `signal` is this worker's own end: what is under way then is handed back.
 */
export async function runOperation(job: OperationJob, deps: OperationDeps, signal: AbortSignal): Promise<void> {
  const answer = await deps.ledger.claim(job, newToken())
  if (answer.kind !== 'claimed') return // done with, or another worker's: should that one be lost, the sweeper finds out
  const { attempt } = answer
  const journal = openAttemptJournal(attempt, deps)
  const unhear = deps.stops.on(attempt.runId, journal.askNow)
  const startedAt = Date.now()
  let running: RunningAttempt | undefined
  try {
    const prepared = await prepareAttempt(attempt, deps, signal)
    const prove = openProof({ attempt, ...prepared }, deps)
    running = { attempt, startedAt, journal, prove, ...prepared }
    if (attempt.work === 'mechanical') await workMechanically(running, deps, signal)
    else await letAgentWork(running, deps, signal)
  } catch (error) {
    await giveUp({ attempt, journal, signal, running }, error, deps)
  } finally {
    unhear()
  }
}

async function letAgentWork(running: RunningAttempt, deps: OperationDeps, signal: AbortSignal): Promise<void> {
  const ending = await endingOf(running, deps, signal)
  if (ending.kind === 'suspended') await suspendOperation(running, ending, deps)
  else await settleOperation(running, ending, deps)
}

/** What a program does without a model; what goes wrong in it ends the attempt as a fault of the agent's would. */
async function workMechanically(running: RunningAttempt, deps: OperationDeps, signal: AbortSignal): Promise<void> {
  const { journal, bundle } = running
  const timeoutS = bundle.bundle.file.limits.timeout_s
  const stop = openAttemptStop([signal, journal.signal], timeoutS * 1000)
  try {
    const work = await makeLintFixes(running, deps, stop.signal)
    await settleMechanical(running, work, deps)
  } catch (error) {
    const ending = endingOfFault(error, { running, stop, signal, timeoutS })
    await settleOperation(running, ending, deps)
  } finally {
    stop.release()
  }
}

/** The agent's ending, or what its failure comes to; thrown is what leaves the operation to another attempt. */
async function endingOf(
  running: RunningAttempt,
  deps: OperationDeps,
  signal: AbortSignal,
): Promise<Ending | Suspension> {
  const { journal, transcript, spentMs, from } = running
  const { file } = running.bundle.bundle
  const timeoutS = file.limits.timeout_s
  const tools = attemptTools(running, deps)
  const stop = openAttemptStop([signal, journal.signal], Math.max(0, timeoutS * 1000 - spentMs))
  try {
    const settings = attemptSettings(
      file,
      await deps.modelSettings(file.model, stop.signal),
      running.attempt.bundleHash,
    )
    const verify = async (submission: Submission, stopped: AbortSignal) =>
      verifySubmission(submission, await running.prove(stopped))
    const agent = { transcript, tools, model: deps.model, settings, journal, verify, from }
    return await runAgent(agent, stop.signal)
  } catch (error) {
    return endingOfFault(error, { running, stop, signal, timeoutS })
  } finally {
    stop.release()
  }
}

type Faulted = { running: RunningAttempt; stop: AttemptStop; signal: AbortSignal; timeoutS: number }

/** The ending that a failure leads to; throws it where the operation is to be left to another attempt. */
function endingOfFault(error: unknown, { running, stop, signal, timeoutS }: Faulted): Ending {
  const { journal } = running
  const fault = asAppError(error, 'TOOL_004', 'execution')
  if (signal.aborted || journal.stopped === 'lost' || isStoreFault(fault)) throw fault
  if (journal.stopped === 'cancelled') return stoppedBy(asAppError(journal.signal.reason, 'AGENT_010'), 'execution')
  if (stop.isTimeUp) return stoppedBy(new AppError('AGENT_006', `no submission within ${timeoutS} s`), 'model')
  return stoppedBy(fault, fault.code.startsWith('AGENT_') ? 'model' : 'execution')
}

function stoppedBy({ code, message }: AppError, phase: 'model' | 'execution'): Ending {
  return { kind: 'stopped', code, phase, reason: message }
}
