import type { Run, RunStop } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { isErrorCode } from '#domain/error.ts'
import type { NewEvent } from '#domain/event.ts'
import type { OperationId } from '#domain/ids.ts'
import type { RunMove } from '#store/ledger/run-commands.ts'
import type { DispatchState } from './enqueue-ready.ts'
import type { ProjectBudgets } from './project-budgets.ts'

export type EndStoppedDeps = {
  ledger: Pick<Ledger, 'endSlice' | 'getOperation' | 'getRun' | 'move' | 'relayResults'>
  budgets: Pick<ProjectBudgets, 'count'>
}

/** Slices per round, so that a large cancelled run does not keep the dispatcher from the others. */
const slicesPerRound = 10
const origin = { kind: 'discovery', id: 'discovery' } as const

/**
 * Ends a stopped run: what has not started is cancelled, slice by slice; when the running operations have ended, too,
 * the run ends as cancelled, or as failed with the code of the operation its policy stopped it for.
 */
export async function endStopped(run: Run, state: DispatchState, { ledger, budgets }: EndStoppedDeps): Promise<void> {
  const { runId, stop } = run
  if (stop === null) return
  for (let slices = 0; slices < slicesPerRound; slices++) {
    const slice = await ledger.endSlice(runId, state.endedUpTo)
    if (slice === undefined) return
    if (slice.next === undefined) {
      if (slice.open > 0) return
      await ledger.relayResults(runId)
      await budgets.count([await ledger.getRun(runId)])
      return void (await ledger.move(runId, await ending(run, stop, ledger)))
    }
    state.endedUpTo = slice.next
  }
}

async function ending(run: Run, stop: RunStop, ledger: EndStoppedDeps['ledger']): Promise<RunMove> {
  const { generation } = run
  const from = [{ status: 'queued' }, { status: 'running' }, { status: 'waiting' }] as const
  const common = { from, generation, command: 'stop' } as const
  if (stop.kind === 'request') {
    const data = { reason: stop.reason, requested_by: stop.by }
    const event: NewEvent = { event: 'run.cancelled', phase: run.phase, origin, data }
    return { ...common, to: { status: 'cancelled' }, set: { reason: stop.reason }, events: [event] }
  }
  const { reason, ...why } = stop.kind === 'fault' ? stop : await failureOf(run, stop.operationId, ledger)
  const errorCode = isErrorCode(why.errorCode) ? why.errorCode : 'AGENT_011'
  const operation = stop.kind === 'policy' ? { operation_id: stop.operationId } : {}
  const data = { error_code: errorCode, reason, ...operation }
  const event: NewEvent = { event: 'run.failed', phase: run.phase, status: 'error', errorCode, origin, data }
  return { ...common, to: { status: 'failed' }, set: { errorCode, reason }, events: [event] }
}

async function failureOf(run: Run, operationId: OperationId, ledger: EndStoppedDeps['ledger']) {
  const { outcome, node } = await ledger.getOperation(run.runId, operationId)
  const reason = `stopped by its policy: ${node.path} ${node.qualifiedName}: ${outcome?.reason ?? 'failed'}`
  return { reason, errorCode: outcome?.errorCode }
}
