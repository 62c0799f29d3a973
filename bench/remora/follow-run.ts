import { RunId } from '#domain/id-schemas.ts'
import { endedRunStatuses as ended, type Run } from '#domain/run.ts'
import { delay } from '#platform/clock.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { storeEnv } from '../../tests/services.ts'
import type { Moment, WholeSystem } from './whole-system.ts'

export type FollowedRun = {
  state: Run
  /** Holds what the system had done when the run was first seen in a phase, and when it had `ended`. */
  reached: Map<string, Moment>
}

/** Looks in the ledger every `pollMs` until the run has ended; the API is not asked. */
export async function followRun(
  system: WholeSystem,
  runId: string,
  { pollMs, onPoll }: { pollMs: number; onPoll?: (state: Run) => Promise<void> },
): Promise<FollowedRun> {
  const ledger = openLedger(system.redis, { origin: { kind: 'discovery', id: 'bench' } })
  const reached = new Map<string, Moment>()
  for (;;) {
    const state = await ledger.getRun(RunId.parse(runId))
    const phase = ended.some((status) => status === state.status) ? 'ended' : state.phase
    if (!reached.has(phase)) reached.set(phase, await system.moment())
    await onPoll?.(state)
    if (phase === 'ended') return { state, reached }
    await delay(pollMs)
  }
}

/** `remora verify` as its user calls it: the time with the program's start, and what it says where it finds something. */
export async function verifyRun(
  { programs, stores }: WholeSystem,
  runId: string,
): Promise<{ ms: number; fault: string[] }> {
  const startedAt = performance.now()
  const program = programs.start(['cli/remora.mjs', 'verify', runId], { env: storeEnv(stores) })
  const code = await program.exited
  return { ms: performance.now() - startedAt, fault: code === 0 ? [] : [`verify: ${program.out()}${program.err()}`] }
}
