import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun } from './refusal.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('end-slice')
const sliceLength = 200
const Reply = z.union([z.literal('going_on'), z.tuple([z.int(), z.int()])])

/** `next` is where the next slice begins, undefined after the last one; `open` is 0 when all has ended and been told. */
export type EndSliceAnswer = { next: number | undefined; open: number }

/**
 * Ends the operations of a stopped run that nobody works on, 200 places of the plan from `first` on. Those under way end
 * by themselves. Undefined when the run was not stopped. RUN_001 for an unknown run.
 */
export async function endSlice(store: LedgerStore, runId: RunId, first: number): Promise<EndSliceAnswer | undefined> {
  const { kind, id } = store.origin
  const answer = await script(store.redis, runKeys(store.namespace, runId).scripted, [first, sliceLength, kind, id])
  const reply = Reply.parse(expectKnownRun(runId, answer))
  if (reply === 'going_on') return undefined
  const [next, open] = reply
  return { next: next < 0 ? undefined : next, open }
}
