import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun, NamedFields, runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('take-result', 'keys')
const Reply = z.union([
  z.literal('open'),
  NamedFields.pipe(z.object({ at: z.coerce.number(), by: z.string(), own: z.int() })),
])

/** `taken`: it is the caller's. `consumed`: another one has had it. `open`: the run has not ended. */
export type TakenResult = { kind: 'taken' | 'consumed'; by: string; at: number } | { kind: 'open' }

/** Takes the result of the run's present generation, which only one command gets; sent again, it gets it again. RUN_001. */
export async function takeResult(
  store: LedgerStore,
  runId: RunId,
  { command, by }: { command: string; by: string },
): Promise<TakenResult> {
  const answer = await script(store.redis, runKeys(store.namespace, runId).scripted, [command, by])
  const reply = Reply.parse(expectKnownRun(runId, answer))
  if (reply === 'open') return { kind: 'open' }
  return { kind: reply.own === 1 ? 'taken' : 'consumed', by: reply.by, at: reply.at }
}
