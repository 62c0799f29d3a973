import { AppError, asAppError } from '#domain/error.ts'
import { newToken, type ProjectId } from '#domain/ids.ts'
import type { Attempt } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { delay } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { runAgent, type AgentRun, type Ending } from '../agent/run-agent.ts'
import type { PreparedBundle } from '../agent/prepared-bundle.ts'
import { openTranscript } from '../agent/transcript.ts'
import type { BaseLayer } from '../workspace/open-workspace.ts'
import { openWorkspace } from '../workspace/open-workspace.ts'
import { openTargetNode } from '../tools/target-node.ts'
import { openAttemptJournal, type AttemptJournal } from './attempt-journal.ts'
import { promptsFor, type Prompts } from './prompts.ts'
import type { RunningAttempt } from './running-attempt.ts'
import { settleOperation, type SettleDeps } from './settle-operation.ts'
import { attemptTools, type AttemptToolDeps } from './attempt-tools.ts'

/** What a job on the `operations` queue names. */
export type OperationJob = { runId: string; operationId: string; dispatch: number }

export type OperationDeps = SettleDeps &
  AttemptToolDeps & {
    ledger: Pick<Ledger, 'claim' | 'append' | 'settle'>
    bundles(project: ProjectId, hash: string): Promise<PreparedBundle>
    baseLayer(project: ProjectId, snapshotId: string): Promise<BaseLayer>
    model: AgentRun['model']
    modelSettings: { model: string; temperature: number }
    workerId: string
    log: Pick<Log, 'debug' | 'warn' | 'error'>
  }

/**
 * One delivery of one operation: claim it, run its agent in a fresh workspace, settle it. A delivery that is stale, or
 * somebody else's, does nothing. Running it twice settles it once: the ledger checks the token.
 */
export async function runOperation(job: OperationJob, deps: OperationDeps, signal: AbortSignal): Promise<void> {
  const attempt = await claimWhenFree(job, deps, signal)
  if (attempt === undefined) return
  const journal = openAttemptJournal(attempt, deps.ledger, deps.workerId)
  const startedAt = Date.now()
  try {
    const running = { attempt, startedAt, journal, ...(await prepare(attempt, deps)) }
    const ending = await endingOf(running, deps, AbortSignal.any([signal, journal.signal]))
    await settleOperation(running, ending, deps)
  } catch (error) {
    await giveUp(attempt, journal, error, deps)
  }
}

/** A live lease of another worker is waited out once: after it the attempt is ours, or the operation has ended. */
async function claimWhenFree(
  job: OperationJob,
  deps: OperationDeps,
  signal: AbortSignal,
): Promise<Attempt | undefined> {
  const token = newToken()
  for (;;) {
    const answer = await deps.ledger.claim(job, token)
    if (answer.kind === 'claimed') return answer.attempt
    if (answer.kind === 'gone') return undefined
    await delay(answer.retryInMs, signal)
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

/** The agent's ending, or the ending its failure comes to; only what is nobody's fault but ours is thrown. */
async function endingOf(running: RunningAttempt, deps: OperationDeps, signal: AbortSignal): Promise<Ending> {
  const limits = running.bundle.bundle.file.limits
  const timeUp = AbortSignal.timeout(limits.timeout_s * 1000)
  const run: AgentRun = {
    transcript: running.transcript,
    tools: attemptTools(running, deps),
    model: deps.model,
    settings: { ...deps.modelSettings, maxTokens: limits.max_tokens, maxTurns: limits.max_turns },
    journal: running.journal,
  }
  try {
    return await runAgent(run, AbortSignal.any([signal, timeUp]))
  } catch (error) {
    if (timeUp.aborted && !signal.aborted) {
      return {
        kind: 'stopped',
        code: 'AGENT_006',
        phase: 'model',
        reason: `no submission within ${limits.timeout_s} s`,
      }
    }
    if (signal.aborted) throw asAppError(signal.reason, 'AGENT_010')
    if (error instanceof AppError && error.code.startsWith('AGENT_')) {
      return { kind: 'stopped', code: error.code, phase: 'model', reason: error.message }
    }
    throw error
  }
}

/** What no agent caused (storage, a damaged bundle, a cancel) ends the operation under its own code. */
async function giveUp(attempt: Attempt, journal: AttemptJournal, error: unknown, deps: OperationDeps): Promise<void> {
  const fault = asAppError(error, 'TOOL_004', 'execution')
  deps.log.warn('operation given up', { run_id: attempt.runId, operation_id: attempt.operationId, error })
  const { n, events } = await journal.close()
  const status = fault.code === 'AGENT_010' ? 'cancelled' : 'failed'
  const cost = { turns: 0, promptTokens: 0, completionTokens: 0, durationMs: 0, changedFiles: [] }
  const ended = { status, summary: fault.message.slice(0, 500), errorCode: fault.code, reason: fault.message } as const
  const outcome = { ...ended, ...cost, phase: fault.phase ?? 'execution' }
  await deps.ledger.settle(attempt, n, { outcome, events })
}
