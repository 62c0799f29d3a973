import type { Ledger } from '#ledger/ledger.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { putSuspendedAttempt } from '#objects/stored-records.ts'
import type { SuspendedAttempt } from '#objects/suspended-attempt.ts'
import type { Suspension } from '../../agent/run-agent.ts'
import { attemptSoFar } from '../attempt/attempt-so-far.ts'
import { costSoFar, runningMs, type RunningAttempt } from '../attempt/running-attempt.ts'

export type SuspendDeps = {
  ledger: Pick<Ledger, 'suspend'>
  objects: ObjectStore
  versions: Readonly<Record<string, string>>
}

/**
 * Lets an operation wait for a person: what the attempt came to is stored as one object, then one atomic command asks the
 * question and frees the slot. The answer makes the operation ready again.
 */
export async function suspendOperation(
  running: RunningAttempt,
  suspension: Suspension,
  deps: SuspendDeps,
): Promise<void> {
  const { attempt, journal, bundle } = running
  const suspended = suspendedAttempt(running, suspension, deps)
  const recordHash = await putSuspendedAttempt(deps.objects, attempt.projectId, suspended)
  const { n, events } = await journal.close()
  const answerWithinMs = bundle.bundle.file.limits.answer_within_s * 1000
  await deps.ledger.suspend(attempt, n, {
    question: suspension.question,
    answerWithinMs,
    recordHash,
    spent: costSoFar(running),
    events,
  })
}

function suspendedAttempt(
  running: RunningAttempt,
  { question, loop, waiting }: Suspension,
  { versions }: SuspendDeps,
): SuspendedAttempt {
  const spentMs = runningMs(running)
  const usage = { ...running.transcript.usage }
  const written = running.workspace.written()
  return { ...attemptSoFar(running, versions), question, spentMs, usage, loop, waiting, written }
}
