import { defaultProject, newRunId, newToken, type RunId } from '#domain/ids.ts'
import type { PlannedOperation } from '#domain/operation.ts'
import { RunRequest } from '#domain/run.ts'
import type { Attempt, DispatchedOperation } from '#ledger/claim.ts'
import type { Ledger } from '#ledger/ledger.ts'
import { maxSliceOperations } from '#ledger/plan.ts'

const origin = { kind: 'discovery', id: 'bench' } as const

/** A run that waits for its plan. */
export async function newRun(ledger: Ledger): Promise<RunId> {
  const runId = newRunId(Date.now())
  await ledger.createRun({
    runId,
    projectId: defaultProject,
    request: RunRequest.parse({ agents: ['docstring', 'lint', 'summary'] }),
    uploadKey: `projects/${defaultProject}/uploads/${runId}`,
    traceparent: null,
    acceptedEvent: { event: 'run.accepted', phase: 'snapshot', origin, data: {} },
  })
  await ledger.move(runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'planning' },
    command: 'start',
    set: { snapshotId: 's'.repeat(17) },
    events: [{ event: 'run.started', phase: 'planning', origin, data: {} }],
  })
  return runId
}

export function slicesOf(operations: readonly PlannedOperation[]): PlannedOperation[][] {
  const slices = Math.ceil(operations.length / maxSliceOperations)
  return Array.from({ length: slices }, (_, slice) =>
    operations.slice(slice * maxSliceOperations, (slice + 1) * maxSliceOperations),
  )
}

export async function planAll(
  ledger: Ledger,
  runId: RunId,
  slices: readonly PlannedOperation[][],
  afterSlice: (planned: number) => Promise<void> = async () => {},
): Promise<void> {
  for (const [slice, operations] of slices.entries()) {
    const answer = await ledger.plan(runId, { slice, operations, last: slice === slices.length - 1 })
    if (answer !== 'planned') throw new Error(`slice ${slice} was answered ${answer}`)
    await afterSlice(slice * maxSliceOperations + operations.length)
  }
}

export async function execute(ledger: Ledger, runId: RunId): Promise<void> {
  await ledger.move(runId, {
    from: [{ status: 'running', phase: 'planning' }],
    to: { phase: 'execution' },
    command: 'plan',
    events: [{ event: 'run.planned', phase: 'planning', origin, data: {} }],
  })
}

export async function complete(ledger: Ledger, runId: RunId): Promise<void> {
  const answer = await ledger.move(runId, {
    from: [{ status: 'running', phase: 'review' }],
    to: { status: 'completed' },
    command: 'complete',
    events: [{ event: 'run.completed', phase: 'review', origin, data: {} }],
  })
  if (answer !== 'moved') throw new Error(`the run did not get to its end: ${answer}`)
}

export async function claimOne(ledger: Ledger, job: DispatchedOperation): Promise<Attempt> {
  const answer = await ledger.claim(job, newToken())
  if (answer.kind !== 'claimed') throw new Error(`a claim was answered ${answer.kind}`)
  return answer.attempt
}

/** Runs `work` on each item, `lanes` of them at a time, in order of their start. */
export async function inLanes<T>(items: readonly T[], lanes: number, work: (item: T) => Promise<void>): Promise<void> {
  const left = items.values()
  const lane = async () => {
    for (const item of left) await work(item)
  }
  await Promise.all(Array.from({ length: lanes }, lane))
}
