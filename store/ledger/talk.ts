import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { OperationId, RunId } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { untilAborted } from '#platform/clock.ts'
import { runKeys, type RunKeys } from './keys.ts'
import type { LedgerStore } from './store.ts'
import { isLarge } from './stored-events.ts'

type OfRun = { projectId: string; runId: RunId }
type OneAttempt = { operationId: OperationId; attempt: number }
type TalkingAttempt = OfRun & OneAttempt & { leaseMs: number }

/** Holds a part of what attempt `a` says: `j` itself, or the name of the object that has it. */
const StoredPart = z.strictObject({ a: z.int(), j: z.unknown().optional(), r: z.string().optional() })

/**
 * Returns a part of what an attempt says as Redis has it: without secrets, and as those of events in the object store where it is large.
 * STORE_002 before the lease is in danger.
 */
export async function storedTalk(
  { archive, redactor }: LedgerStore,
  attempt: TalkingAttempt,
  part: object,
): Promise<string> {
  const json = redactor.json(JSON.stringify(part))
  if (archive === undefined || !isLarge(json, archive)) return inlineTalk(attempt, json)
  const late = AbortSignal.timeout(attempt.leaseMs / 3)
  const r = await untilAborted(archive.putPayload(attempt, json), late).catch((cause: unknown) => {
    throw late.aborted ? new AppError('STORE_002', 'The object store does not take what was said.', { cause }) : cause
  })
  return JSON.stringify({ a: attempt.attempt, r })
}

/** Returns the same for what has no secrets any more, of any size. */
export function inlineTalk({ attempt }: Pick<OneAttempt, 'attempt'>, json: string): string {
  return `{"a":${attempt},"j":${json}}`
}

/** Returns a text that changes whenever the status of the operation, or what its attempts have said, has changed. */
export async function talkVersion({ redis, namespace }: LedgerStore, runId: RunId, id: OperationId): Promise<string> {
  const { operation, talk } = runKeys(namespace, runId)
  return (await Promise.all([redis.hmget(operation(id), 'status', 'attempt'), redis.llen(talk(id))])).join(' ')
}

/** Returns the parts of what an attempt has said that runs, or that is over without a record; none of any other. */
export async function readTalk(store: LedgerStore, run: OfRun, { operationId, attempt }: OneAttempt) {
  const { redis, namespace, archive } = store
  const keys = runKeys(namespace, run.runId)
  const name = `${operationId}:${attempt}`
  // In this order: what becomes the past between the reads is found.
  const [running, over, past] = await Promise.all([
    redis.lrange(keys.talk(operationId), 0, -1),
    redis.lrange(keys.talk(name), 0, -1),
    redis.hget(keys.operation(operationId), 'past'),
  ])
  let parts = partsOf(running).filter(({ a }) => a === attempt)
  if (parts.length === 0) parts = partsOf(over)
  if (parts.length === 0 && past?.split(' ').includes(`${attempt}`) === true)
    parts = partsOf((await archive?.getTalk(run, name)) ?? [])
  return Promise.all(parts.map(async ({ j, r }) => (r === undefined ? j : archive?.getPayload(run, r))))
}

function partsOf(stored: readonly string[]) {
  return stored.map((json) => StoredPart.parse(parseJson(json)))
}

/** Moves what attempts said that are over to the object store. A crash loses nothing, and concurrent calls are harmless. */
export async function archiveTalks(
  { redis, archive }: LedgerStore,
  run: OfRun,
  keys: RunKeys,
  names: readonly string[],
) {
  for (const name of names) {
    const parts = await redis.lrange(keys.talk(name), 0, -1)
    if (parts.length > 0) await archive?.putTalk(run, name, parts)
    await redis.multi().del(keys.talk(name)).srem(keys.past, name).exec()
  }
}
