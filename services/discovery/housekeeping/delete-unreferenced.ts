import { AppError } from '#domain/error.ts'
import type { CollectionWindow } from '#ledger/collection-window.ts'
import type { Retention } from '#ledger/retention.ts'
import { mapBounded } from '#objects/map-bounded.ts'
import type { ObjectStore } from '#objects/object-store.ts'
import { delay } from '#platform/clock.ts'

/** An object without a reference, to be deleted when its last put was before a time (ms since the epoch). */
export type Candidate = { key: string; lastPutBefore: number }

export type DeleteDeps = { retention: Pick<Retention, 'inWindow'>; objects: Pick<ObjectStore, 'stat' | 'deleteMany'> }

const sliceLength = 1_000
const statsAtOnce = 32
/** Between two windows, so that those who wait to put something get their turn. */
const restMs = 1_000

/**
 * Deletes the candidates that are still old. That look and the delete lie in one window in which nobody puts anything
 * that runs share, or a put between the two would be undone.
 */
export async function deleteUnreferenced(
  candidates: readonly Candidate[],
  { retention, objects }: DeleteDeps,
  signal: AbortSignal,
): Promise<{ count: number; bytes: number }> {
  const gone = { count: 0, bytes: 0 }
  let next = 0
  const deleteSlices = async ({ timeUp, isOpen }: CollectionWindow): Promise<true> => {
    const stop = AbortSignal.any([signal, timeUp])
    while (next < candidates.length && !stop.aborted) {
      const slice = candidates.slice(next, next + sliceLength)
      const looked = await mapBounded(slice, statsAtOnce, async (candidate) => ({
        candidate,
        found: await objects.stat(candidate.key),
      }))
      const old = looked.flatMap(({ candidate, found }) =>
        found !== undefined && found.lastModified < candidate.lastPutBefore ? [found] : [],
      )
      // Also when this process was stopped for longer than the window: no timer has said so yet.
      if (stop.aborted || !(await isOpen())) break
      await objects.deleteMany(
        old.map(({ key }) => key),
        stop,
      )
      next += slice.length
      gone.count += old.length
      gone.bytes += old.reduce((sum, { bytes }) => sum + bytes, 0)
    }
    return true
  }
  while (next < candidates.length) {
    signal.throwIfAborted()
    const before = next
    const worked = await retention.inWindow(deleteSlices)
    if (worked === undefined) throw new AppError('STORE_001', 'another collector is at work, or took the window over')
    if (next === before && !signal.aborted)
      throw new AppError('STORE_002', 'nothing could be deleted before the window was over')
    if (next < candidates.length) await delay(restMs, signal)
  }
  return gone
}
