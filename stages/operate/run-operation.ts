import { provesTests } from '#domain/agent-bundle.ts'
import { allowedPrograms } from '#domain/allowed-programs.ts'
import { AppError, asAppError, ModelUnavailable } from '#domain/error.ts'
import { newToken } from '#domain/ids.ts'
import type { RequestProgress } from '#domain/turn.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { LoopState } from '#store/objects/attempt-record.ts'
import type { Log } from '#platform/log.ts'
import type { EvidenceChecker } from './evidence/evidence-checker.ts'
import type { SyntaxChecker } from './evidence/syntax-evidence.ts'
import { reserveTokens } from './agent/reserve-tokens.ts'
import { runAgent, type AgentRun, type Ending, type Suspension } from './agent/run-agent.ts'
import { isStoreFault, openAttemptJournal } from './attempt/attempt-journal.ts'
import { openAttemptStop, type AttemptStop } from './attempt/attempt-stop.ts'
import type { FinishDeps } from './ending/finish-tool.ts'
import { giveUp } from './ending/give-up.ts'
import { prepareAttempt, type PreparedAttempt, type PrepareDeps } from './attempt/prepare-attempt.ts'
import { makeLintFixes, settleMechanical } from './mechanical-work.ts'
import type { OperationEnding } from './ending/decide-outcome.ts'
import { openProof } from './ending/prove-changes.ts'
import { type NoteStoreWait, openStorePatience, type StorePatience } from './attempt/store-patience.ts'
import type { RunningAttempt } from './attempt/running-attempt.ts'
import { type SettleDeps, settleOperation, suspendOperation } from './ending/settle-operation.ts'
import { verifySubmission } from './ending/verify-submission.ts'
import { type AgentSettings, attemptSettings } from './agent/agent-settings.ts'
import { attemptTools, type AttemptToolDeps, programsOf } from './attempt/attempt-tools.ts'
import { isTestable } from './tools/tests/find-tests.ts'
import { openTestProofs, type TestProofs } from './tools/tests/prove-tests.ts'

export type OperationJob = { runId: string; operationId: string; dispatch: number }

export type OperationDeps = SettleDeps &
  FinishDeps &
  PrepareDeps &
  AttemptToolDeps & {
    ledger: Pick<Ledger, 'claim' | 'append' | 'settle' | 'release' | 'suspend' | 'awaitTool'>
    model: AgentRun['model']
    evidence: EvidenceChecker
    syntax: Pick<SyntaxChecker, 'mutants'>
    workerId: string
    handBackMs: number
    noteStoreWait?: NoteStoreWait | undefined
    log: Pick<Log, 'debug' | 'warn' | 'error'>
  }

/** Handles one delivery of an operation: a stale one does nothing, one handled twice settles once. On `signal` the operation is handed back. */
export async function runOperation(job: OperationJob, deps: OperationDeps, signal: AbortSignal): Promise<void> {
  const answer = await deps.ledger.claim(job, newToken())
  if (answer.kind !== 'claimed') return // ended, or another worker has it; should that one be lost, the sweeper notices
  const { attempt } = answer
  const journal = openAttemptJournal(attempt, deps)
  const stopListening = deps.stops.on(attempt.runId, journal.askNow)
  const patience = openStorePatience({
    ends: [signal, journal.signal],
    firstPauseMs: deps.handBackMs,
    note: deps.noteStoreWait,
  })
  const patient = patientDeps(deps, patience)
  const startedAt = Date.now()
  let running: RunningAttempt | undefined
  try {
    // Nothing is lost when it is prepared once more: it has no turn yet.
    const prepared = await patience.through(() => prepareAttempt(attempt, patient, signal))
    journal.follow(prepared.transcript)
    const tests = testProofsOf(prepared, deps)
    const prove = openProof(prepared, { ...deps, tests })
    running = { startedAt, ...notBegun, journal, prove, tests, checkpoint: undefined, ...prepared }
    const ending = await workOn(running, { ...patient, patience }, signal)
    if (ending?.kind === 'suspended') await suspendOperation(running, ending, patient)
    else if (ending !== undefined) await settleOperation(running, ending, patient, signal)
  } catch (error) {
    running?.stopTool()
    await giveUp({ attempt, journal, signal, running }, error, patient)
  } finally {
    stopListening()
  }
}

const notBegun = { waitedMs: () => 0, stopTool: () => {} }

function testProofsOf(prepared: PreparedAttempt, deps: OperationDeps): TestProofs {
  const { test_runs: runs, mutants } = prepared.bundle.bundle.file.limits
  const { target, workspace } = prepared
  const proving = { limits: { runs, mutants }, target, workspace }
  return openTestProofs({ ...proving, programs: (signal) => programsOf(prepared, deps, signal) }, deps)
}

/** `deps` of one attempt: what it stores, and what it reads when it has turns, waits until the object store works. */
function patientDeps(deps: OperationDeps, { through, layer }: StorePatience): OperationDeps {
  return {
    ...deps,
    objects: { ...deps.objects, put: (...object) => through(() => deps.objects.put(...object)) },
    baseLayer: async (...snapshot) => layer(await deps.baseLayer(...snapshot)),
    relatedPaths: (attempt) => through(() => deps.relatedPaths(attempt)),
    relatedAt: (attempt, place) => through(() => deps.relatedAt(attempt, place)),
    runFacts: (attempt) => through(() => deps.runFacts(attempt)),
  }
}

/** Runs the agent and returns its ending, or settles mechanical work. Throws a fault where another attempt should have the operation. */
async function workOn(
  running: RunningAttempt,
  deps: OperationDeps & { patience: StorePatience },
  signal: AbortSignal,
): Promise<OperationEnding | Suspension | undefined> {
  if (running.isGone) return { kind: 'gone' }
  const timeoutS = running.bundle.bundle.file.limits.timeout_s
  const limitMs = Math.max(0, timeoutS * 1000 - running.spentMs)
  const stop = openAttemptStop([signal, running.journal.signal], limitMs)
  running.waitedMs = stop.waitedMs
  running.stopTool = stop.abort
  deps.patience.runs(stop.time)
  try {
    if (running.attempt.work !== 'mechanical') return await letAgentWork(running, deps, stop)
    await settleMechanical(running, await makeLintFixes(running, deps, stop.signal), deps)
    return undefined
  } catch (error) {
    return endingOfFault(await faultOfModel(error, { running, stop }, deps), { running, stop, signal, timeoutS })
  } finally {
    stop.release()
  }
}

async function letAgentWork(
  running: RunningAttempt,
  deps: OperationDeps,
  stop: AttemptStop,
): Promise<Ending | Suspension> {
  const { signal } = stop
  const { attempt, journal, transcript, from } = running
  const { file } = running.bundle.bundle
  await requirePrograms(running, deps, signal)
  const tools = attemptTools(running, deps, signal)
  const settings = attemptSettings(
    running.bundle.bundle,
    await deps.modelSettings(file.model, signal),
    attempt.bundleHash,
  )
  await requireTaken(settings, deps, signal)
  const verify: AgentRun['verify'] = async (submission, stopped) => {
    if (submission.status !== 'success') return { kind: 'holds' } // it claims nothing
    journal.does('proof')
    return verifySubmission(submission, await running.prove(stopped))
  }
  const atTurn = (loop: LoopState) => {
    running.checkpoint = { loop, messages: transcript.messages.length }
  }
  const model = { ...deps.model, complete: await completeFor(running, deps, stop) }
  const reserve: AgentRun['reserve'] = (request, stopped) =>
    reserveTokens(request, { budget: journal.budget, model }, stopped)
  return runAgent({ transcript, tools, model, settings, journal, verify, from, atTurn, reserve }, signal)
}

/** Tries what the work cannot do without before a model is asked for anything. Throws TOOL_005 and SETUP_001. */
async function requirePrograms(running: RunningAttempt, deps: OperationDeps, signal: AbortSignal): Promise<void> {
  const { file } = running.bundle.bundle
  const { language } = running.target.node
  if (provesTests(file) && isTestable(language)) await running.tests.runner(language, signal)
  else if (allowedPrograms(file).length > 0) await programsOf(running, deps, signal).require()
}

/** Throws AGENT_001 for a bundle with a constraint of its own that no server of its model takes, as far as that is known. */
async function requireTaken(
  { constraint, model }: AgentSettings,
  deps: Pick<OperationDeps, 'model'>,
  signal: AbortSignal,
): Promise<void> {
  if (typeof constraint !== 'object') return
  const servers = (await deps.model.probe?.(model, signal)) ?? []
  if (servers.length === 0 || servers.some(({ structuredOutputs }) => structuredOutputs)) return
  const lacking = `no server of the model "${model}" takes structured_outputs`
  throw new AppError(
    'AGENT_001',
    `${lacking}, which the bundle's grammar needs: vLLM does, or write grammar: json_schema`,
  )
}

/** Its requests share the servers with those of other runs, and its time does not run while no server works on them. */
async function completeFor(
  { attempt, journal }: Pick<RunningAttempt, 'attempt' | 'journal'>,
  { model, runFacts }: OperationDeps,
  { progress, answered }: AttemptStop,
): Promise<OperationDeps['model']['complete']> {
  const { runId, projectId } = attempt
  const told: RequestProgress = {
    ...progress,
    queued() {
      progress.queued()
      journal.does('slot')
    },
    sent() {
      progress.sent()
      journal.does('model')
    },
  }
  const share = { runId, projectId, weight: (await runFacts(attempt)).weight }
  return async (request, signal) => {
    try {
      return await model.complete({ ...request, share }, signal, told)
    } finally {
      answered()
    }
  }
}

/** An attempt whose time is up while it waits for a model that no longer works has not used it: the model is to blame. */
async function faultOfModel(
  error: unknown,
  { running, stop }: Pick<Faulted, 'running' | 'stop'>,
  { model }: Pick<OperationDeps, 'model'>,
): Promise<unknown> {
  const exchange = running.transcript.exchanges.at(-1)
  if (!stop.isTimeUp || exchange?.error === undefined || model.health === undefined) return error
  if (await model.health.works(exchange.model)) return error
  const message = `no answer from the model "${exchange.model}" when the time was up`
  return new ModelUnavailable(message, { cause: error, kind: 'doubtful', isAway: true })
}

type Faulted = { running: RunningAttempt; stop: AttemptStop; signal: AbortSignal; timeoutS: number }

/** The ending that a fault leads to; throws the fault where another attempt should have the operation. */
function endingOfFault(error: unknown, { running, stop, signal, timeoutS }: Faulted): Ending {
  const { journal } = running
  const fault = asAppError(error, 'TOOL_004', 'execution')
  const isHandedBack = isStoreFault(fault) || fault instanceof ModelUnavailable || fault.code === 'LIMIT_004'
  if (signal.aborted || journal.stopped === 'lost' || isHandedBack) throw fault
  if (journal.stopped === 'cancelled') return stoppedBy(asAppError(journal.signal.reason, 'AGENT_010'), 'execution')
  if (stop.isTimeUp) return stoppedBy(new AppError('AGENT_006', `no submission within ${timeoutS} s`), 'model')
  return stoppedBy(fault, fault.code.startsWith('AGENT_') ? 'model' : 'execution')
}

function stoppedBy({ code, message }: AppError, phase: 'model' | 'execution'): Ending {
  return { kind: 'stopped', code, phase, reason: message }
}
