import { z } from 'zod'
import { Ask } from '#domain/ask.ts'
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

/** Takes in what somebody asks about a run, which may have ended, with its event. The same id again changes nothing. RUN_001, RUN_005. */
export async function receiveAsk(store: LedgerStore, runId: RunId, asked: Asked): Promise<void> {
  const { askId, text, by, phase, origin } = asked
  const event = { event: 'ask.received', phase, origin, data: { ask_id: askId, text, by } } as const
  await noteAsk(store, runId, { field: askId, kept: { text, by }, event })
}

type EndEvent = Extract<NewEvent, { event: 'ask.answered' | 'ask.failed' }>

/** Ends an ask as the event says; nothing where it has ended before. */
export async function endAsk(store: LedgerStore, runId: RunId, event: EndEvent): Promise<void> {
  const { ask_id: askId, ...end } = event.data
  const kept =
    'answer' in end ? { answer: end.answer, model: end.model } : { error_code: end.error_code, reason: end.reason }
  await noteAsk(store, runId, { field: `${askId}:end`, kept, event })
}

async function noteAsk(
  store: LedgerStore,
  runId: RunId,
  { field, kept, event }: { field: string; kept: object; event: NewEvent },
): Promise<void> {
  const { scripted, asks } = runKeys(store.namespace, runId)
  const shown = store.redactor.json(JSON.stringify(kept))
  const args = [field, shown, ...(await storedEvents(store, ownerOf(store, runId), [event]))]
  expectKnownRun(runId, await noteScript(store.redis, [...scripted, asks], args))
}

const Kept = z.record(z.string(), z.unknown())

/** Returns what was asked about the run, in order. */
export async function readAsks({ redis, namespace }: LedgerStore, runId: RunId): Promise<Ask[]> {
  const stored = new Map(Object.entries(await redis.hgetall(runKeys(namespace, runId).asks)))
  const ids = [...stored.keys()].filter((field) => AskId.safeParse(field).success)
  const json = (field: string): unknown => JSON.parse(stored.get(field) ?? 'null')
  const asks = ids.map((askId) => Ask.parse({ askId, ...Kept.parse(json(askId)), end: json(`${askId}:end`) }))
  return asks.toSorted((one, other) => one.seq - other.seq)
}

const leaseMs = 30_000

/** Runs `work` while nobody else answers what is asked about the run; undefined when somebody does. A lost lease aborts the signal. */
export function whileAnswering<T>(
  { redis, namespace }: LedgerStore,
  runId: RunId,
  work: (signal: AbortSignal) => Promise<T>,
) {
  return withLease(redis, { key: runKeys(namespace, runId).answering, ms: leaseMs }, work)
}
