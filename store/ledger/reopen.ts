import { z } from 'zod'
import type { EventOrigin } from '#domain/event.ts'
import type { ErrorPolicyName, Run, WantedWork } from '#domain/run.ts'
import { indexKeys } from './keys.ts'
import { indexRun, type RunHolder } from './run-commands.ts'
import { NamedFields, runCommand } from './script.ts'
import type { LedgerStore } from './store.ts'
import { storedEvents } from './stored-events.ts'

export type Reopening = {
  wanted: WantedWork
  /** Replaces the one that the run has. */
  errorPolicy?: ErrorPolicyName | undefined
  origin: EventOrigin
  /** Names this reopening: with the same name it is not done twice. */
  command: string
  holder?: RunHolder | undefined
}

const Reply = z.union([
  z.enum(['changed', 'open']),
  NamedFields.pipe(z.object({ generation: z.coerce.number(), seq: z.coerce.number() })),
])

/** `generation` has begun with event `seq`. `changed`: somebody else has begun one since the run was read. `open`: it has not ended. */
export type ReopenAnswer = z.infer<typeof Reply>

const begin = runCommand('reopen', Reply, 'events')

/**
 * Begins the next generation of an ended run: what is wanted is planned once more over the same snapshot (`run.reopened`); all
 * that was made and decided stays. It is put among the active runs first, so that a crash leaves an ended run there, which the
 * dispatcher takes out. LIMIT_003 when the holder has too many, RUN_001 for an unknown or deleted run.
 */
export async function reopen(
  store: LedgerStore,
  { runId, projectId, generation }: Pick<Run, 'runId' | 'projectId' | 'generation'>,
  { wanted, errorPolicy, origin, command, holder }: Reopening,
): Promise<ReopenAnswer> {
  const { active, ended } = indexKeys(store.namespace)
  const member = `${projectId}/${runId}`
  await indexRun(store, { runId, projectId, holder }, 'again')
  const { operations, codes } = wanted
  const data = {
    generation: generation + 1,
    ...(operations && { operations: operations.length }),
    ...(codes && { codes }),
    ...(errorPolicy && { error_policy: errorPolicy }),
  }
  const reopened = { event: 'run.reopened', phase: 'planning', origin, data } as const
  const events = await storedEvents(store, { runId, projectId }, [reopened])
  const args = [generation, command, JSON.stringify(wanted), errorPolicy ?? '', ...events]
  const reply = await begin(store, runId, args)
  if (typeof reply === 'string') return reply
  // Whoever saw it ended may have taken it out again in the meantime.
  await store.redis.zadd(active, 'NX', Date.now(), member)
  await store.redis.zrem(ended, member)
  return reply
}
