import { z } from 'zod'
import type { RunId } from '#domain/ids.ts'
import { runKeys } from './keys.ts'
import { expectKnownRun } from './refusal.ts'
import { runScript } from './script.ts'
import type { LedgerStore } from './store.ts'

const script = runScript('sweep')

/** `lost`: whose lease ran out. `abandoned`: all that run, for it is known that none of their workers is alive. */
export type SweepReason = 'lost' | 'abandoned'

/**
 * Takes operations back whose worker has been silent for longer than its lease, 200 at most: ready again
 * (`operation.retried`), or failed after the third loss; what was abandoned counts as no loss. As many that wait for an
 * answer past its time end as blocked (ASK_003). Answers how many are left of both. RUN_001 for an unknown run.
 */
export async function sweep(store: LedgerStore, runId: RunId, reason: SweepReason = 'lost'): Promise<number> {
  const { kind, id } = store.origin
  const answer = await script(store.redis, runKeys(store.namespace, runId).scripted, [kind, id, reason])
  return z.int().parse(expectKnownRun(runId, answer))
}
