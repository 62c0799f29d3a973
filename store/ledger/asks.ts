import { z } from 'zod'
import { Ask, AskEnd } from '#domain/ask.ts'
import type { Event, EventOrigin, NewEvent } from '#domain/event.ts'
import { AskId } from '#domain/id-schemas.ts'
import type { RunId } from '#domain/ids.ts'
import type { RunPhase } from '#domain/run.ts'
import type { Violation } from './accounts.ts'
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

type Unnoted<End> = End extends AskEnd ? Omit<End, 'seq' | 'at'> : never

/** Ends an ask, with the event that says how; nothing where it has ended before. */
export async function endAsk(
  store: LedgerStore,
  runId: RunId,
  askId: AskId,
  { end, event }: { end: Unnoted<AskEnd>; event: NewEvent },
): Promise<void> {
  await noteAsk(store, runId, { field: `${askId}:end`, kept: end, event })
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

const OfAsk = z.object({ ask_id: z.string() })

/** Compares what is kept of the asks of a run with their events (invariant 2). */
export function foldAsks() {
  const told = new Map<string, number>()

  function take({ event, seq, data }: Event): void {
    if (event === 'ask.received') told.set(OfAsk.parse(data).ask_id, seq)
    if (event === 'ask.answered' || event === 'ask.failed') told.set(`${OfAsk.parse(data).ask_id}:end`, seq)
  }

  function violations(asks: readonly Ask[]): Violation[] {
    const kept = new Map(
      asks.flatMap(({ askId, seq, end }) => [
        [askId, seq] as const,
        ...(end === null ? [] : [[`${askId}:end`, end.seq] as const]),
      ]),
    )
    return [...new Set([...kept.keys(), ...told.keys()])].flatMap((field) => {
      const [is, said] = [kept.get(field) ?? 'no event', told.get(field) ?? 'none']
      return is === said ? [] : [{ invariant: 2, message: `ask ${field} is of ${is}, its events say ${said}` }]
    })
  }

  return { take, violations }
}
