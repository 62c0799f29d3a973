import { z } from 'zod'
import { Ask } from '#domain/ask.ts'
import { AppError } from '#domain/error.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import { AskId } from '#domain/id-schemas.ts'
import type { RunId } from '#domain/ids.ts'
import type { RunPhase } from '#domain/run.ts'
import { runKeys } from './keys.ts'
import { withLease } from './lease.ts'
import { expectKnownRun, runScript } from './script.ts'
import type { LedgerStore } from './store.ts'
import { ownerOf, storedEvents } from './stored-events.ts'

const noteScript = runScript('note-ask', 'events')

type Asked = Pick<Ask, 'askId' | 'text' | 'by'> & { phase: RunPhase; origin: EventOrigin }

/** Takes in what somebody asks about a run, which may have ended, with its event. The same id again changes nothing. RUN_001, RUN_005; INTAKE_003 where too much is asked. */
export async function receiveAsk(store: LedgerStore, runId: RunId, asked: Asked): Promise<void> {
  const { askId, text, by, phase, origin } = asked
  const event = { event: 'ask.received', phase, origin, data: { ask_id: askId, text, by } } as const
  const noted = await noteAsk(store, runId, { field: askId, kept: { text, by }, event })
  if (noted === 'full') throw new AppError('INTAKE_003', `Run "${runId}" was asked as much as is kept of a run.`)
}

type EndEvent = Extract<NewEvent, { event: 'ask.answered' | 'ask.failed' }>

/** Ends an ask as the event says; nothing where it has ended before. `lost`: the token does not hold the lease of who answers any more. */
export async function endAsk(store: LedgerStore, runId: RunId, { token, event }: { token: string; event: EndEvent }) {
  const { ask_id: askId, ...end } = event.data
  const kept =
    'answer' in end ? { answer: end.answer, model: end.model } : { error_code: end.error_code, reason: end.reason }
  return noteAsk(store, runId, { field: `${askId}:end`, kept, event, token })
}

async function noteAsk(
  store: LedgerStore,
  runId: RunId,
  { field, kept, event, token }: { field: string; kept: object; event: NewEvent; token?: string },
) {
  const { scripted, asks, answering } = runKeys(store.namespace, runId)
  const shown = store.redactor.json(JSON.stringify(kept))
  const args = [field, shown, token ?? '', ...(await storedEvents(store, ownerOf(store, runId), [event]))]
  const keys = [...scripted, asks, ...(token === undefined ? [] : [answering])]
  return z
    .enum(['noted', 'known', 'lost', 'full'])
    .parse(expectKnownRun(runId, await noteScript(store.redis, keys, args)))
}

const Kept = z.record(z.string(), z.unknown())

/** Returns what was asked about the run, in order. */
export async function readAsks({ redis, namespace }: LedgerStore, runId: RunId): Promise<Ask[]> {
  const stored = new Map(Object.entries(await redis.hgetall(runKeys(namespace, runId).asks)))
  const ids = [...stored.keys()].filter((field) => AskId.safeParse(field).success)
  const asks = ids.map((askId) => askOf(askId, stored.get(askId), stored.get(`${askId}:end`)))
  return asks.toSorted((one, other) => one.seq - other.seq)
}

export async function readAsk({ redis, namespace }: LedgerStore, runId: RunId, askId: AskId): Promise<Ask | undefined> {
  const [kept, end] = await redis.hmget(runKeys(namespace, runId).asks, askId, `${askId}:end`)
  return kept ? askOf(askId, kept, end) : undefined
}

function askOf(askId: AskId, kept = '', end?: string | null): Ask {
  return Ask.parse({ askId, ...Kept.parse(JSON.parse(kept)), end: JSON.parse(end ?? 'null') })
}

const leaseMs = 30_000

/** Runs `work` while nobody else answers what is asked about the run; undefined when somebody does. A lost lease aborts the signal. */
export function whileAnswering<T>(
  { redis, namespace }: LedgerStore,
  runId: RunId,
  work: (signal: AbortSignal, token: string) => Promise<T>,
) {
  return withLease(redis, { key: runKeys(namespace, runId).answering, ms: leaseMs }, work)
}
