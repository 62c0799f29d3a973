import type { NewEvent } from '#domain/event.ts'
import { defaultProject, type RunId } from '#domain/ids.ts'
import { delay } from '#platform/clock.ts'
import type { Attempt, DispatchedOperation } from '#store/ledger/attempt.ts'
import type { Settlement } from '#store/ledger/end-attempt.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { writeSnapshot } from '#store/objects/snapshot.ts'
import { claimOne, execute, newRun, planAll, slicesOf } from '../ledger/bench-ledger.ts'
import { operationsPerFile, plannedOperations, playAttempt } from '../ledger/played-run.ts'

/** An attempt that a worker is at, with how many of its appends were made. */
type Open = { attempt: Attempt; appends: readonly NewEvent[][]; settlement: Settlement; made: number }

type PlayedStores = { ledger: Ledger; objects: ObjectStore }
export type PlayedWorkers = Awaited<ReturnType<typeof openPlayedWorkers>>

/** So many operations run at once. */
const slots = 64
/** Is small, as each event of a dispatch happens at once. */
const dispatchSize = 20
const tickMs = 10
/** An operation's 19 events are those of its dispatch, its claim, three appends and its settlement. */
const eventsOfStep = 4
/** Commands that are sent at once where events are made as fast as may be. */
const lanes = 32

/**
 * A run of so many operations, and the workers that play them as in played-run.ts: claimed, three appends and a settlement each, without a model. The
 * run's older events are in the archive, where `archiveEvents` is called meanwhile.
 */
export async function openPlayedWorkers({ ledger, objects }: PlayedStores, operations: number) {
  const { snapshotId } = await writeSnapshot(objects, defaultProject, { files: [], links: [], skipped: [] })
  const runId = await newRun(ledger, snapshotId)
  const planned = plannedOperations(Math.ceil(operations / operationsPerFile)).slice(0, operations)
  await planAll(ledger, runId, slicesOf(planned))
  await execute(ledger, runId)
  const step = openSteps(ledger, runId)
  const seq = async () => (await ledger.getRun(runId)).seq
  return {
    runId,
    /** Is the number of the run's last event. */
    seq,
    /** Makes some events, about a hundred. */
    burst: async () => void (await Promise.all(Array.from({ length: lanes }, step))),
    /** Makes `rate` events a second until `signal` is aborted, each at its time however long those before took. */
    async play(rate: number, signal: AbortSignal): Promise<void> {
      const [begin, startedAt] = [await seq(), performance.now()]
      while (!signal.aborted) {
        const due = begin + ((performance.now() - startedAt) / 1_000) * rate
        const steps = Math.ceil((due - (await seq())) / eventsOfStep)
        for (let taken = 0; taken < steps; taken += 1) await step()
        await delay(tickMs)
      }
    },
  }
}

/** Returns what takes the next step of an operation: that of another one each time, until it has ended. */
function openSteps(ledger: Ledger, runId: RunId): () => Promise<void> {
  const jobs: DispatchedOperation[] = []
  const open: Open[] = []
  let running = 0
  let dispatching: Promise<void> | undefined

  async function dispatch(): Promise<void> {
    const { taken } = await ledger.dispatch(runId, dispatchSize)
    if (taken.length === 0) throw new Error('no operation of the run is ready')
    jobs.push(...taken.map((job) => ({ runId, ...job })))
    dispatching = undefined
  }

  async function begin(): Promise<void> {
    running += 1
    let job = jobs.shift()
    for (; job === undefined; job = jobs.shift()) await (dispatching ??= dispatch())
    const attempt = await claimOne(ledger, job)
    open.push({ attempt, ...playAttempt(attempt), made: 0 })
  }

  async function goOn({ attempt, appends, settlement, made }: Open): Promise<void> {
    const events = appends[made]
    const { kind } =
      events === undefined
        ? await ledger.settle(attempt, made + 1, settlement)
        : await ledger.append(attempt, made + 1, { events })
    if (kind !== 'ok' && kind !== 'settled') throw new Error(`operation ${attempt.operationId} was answered ${kind}`)
    if (events === undefined) running -= 1
    else open.push({ attempt, appends, settlement, made: made + 1 })
  }

  return () => {
    const next = running < slots ? undefined : open.shift()
    return next === undefined ? begin() : goOn(next)
  }
}
