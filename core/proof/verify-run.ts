import type { RunId } from '#domain/ids.ts'
import { isEnded } from '#domain/run.ts'
import type { Ledger } from '#ledger/ledger.ts'
import type { Verification } from '#ledger/verify.ts'
import { verifyObjects, type ObjectProofDeps } from './verify-objects.ts'
import { whatIsLeft, type LeftDeps } from './what-is-left.ts'

/** `ended`: whether the run had, before anything was looked at. */
export type RunVerification = Verification & { ended: boolean }

export type ProofDeps = ObjectProofDeps & LeftDeps & { ledger: Pick<Ledger, 'getRun' | 'verify'> }

/**
 * Every invariant of a run's accounting: its events against its state (1 to 6), its objects (7) and, once it has ended,
 * what is left of it (8). Changes nothing. A run that is being worked on may show differences that are none. RUN_001 when
 * there is no such run, STORE_001 and STORE_002 when a store is away.
 */
export async function verifyRun(runId: RunId, deps: ProofDeps): Promise<RunVerification> {
  const run = await deps.ledger.getRun(runId)
  const { violations, ...counted } = await deps.ledger.verify(runId)
  const objects = await verifyObjects(run, deps)
  const ended = isEnded(run.status)
  const left = ended ? await whatIsLeft(run, deps) : []
  return { ended, violations: [...violations, ...objects, ...left], ...counted }
}
