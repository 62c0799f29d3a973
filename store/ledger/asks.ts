import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import type { EventOrigin, NewEvent } from '#domain/event.ts'
import { askEvents } from '#domain/events/ask-events.ts'
import type { AskId } from '#domain/id-schemas.ts'
import type { RunId } from '#domain/ids.ts'
import type { RunPhase } from '#domain/run.ts'
import { readEvents } from './event-log.ts'
import { runKeys } from './keys.ts'
import { runCommand } from './script.ts'
import type { LedgerStore } from './store.ts'
import { ownerOf, storedEvents } from './stored-events.ts'

const note = runCommand('note-ask', z.enum(['noted', 'known', 'lost', 'full']), 'events')

type Asked = { askId: AskId; text: string; by: string; phase: RunPhase; origin: EventOrigin }

/** Takes in what somebody asks about a run, which may have ended, with its event. The same id again changes nothing. RUN_001, RUN_005; INTAKE_003 where too much is asked. */
export async function receiveAsk(store: LedgerStore, runId: RunId, asked: Asked): Promise<void> {
  const { askId, text, by, phase, origin } = asked
  const event = { event: 'ask.received', phase, origin, data: { ask_id: askId, text, by } } as const
  const noted = await noteAsk(store, runId, { field: askId, event })
  if (noted === 'full') throw new AppError('INTAKE_003', `Run "${runId}" has 50 asks, the most that are kept of a run.`)
}

type EndEvent = Extract<NewEvent, { event: 'ask.answered' | 'ask.failed' }>

/** Ends an ask as the event says; nothing where it has ended before. `lost`: the token does not hold the lease of who answers any more. */
export async function endAsk(store: LedgerStore, runId: RunId, { token, event }: { token: string; event: EndEvent }) {
  return noteAsk(store, runId, { field: `${event.data.ask_id}:end`, event, token })
}

async function noteAsk(
  store: LedgerStore,
  runId: RunId,
  { field, event, token }: { field: string; event: NewEvent; token?: string },
) {
  const { asks, answering } = runKeys(store.namespace, runId)
  const args = [field, token ?? '', ...(await storedEvents(store, ownerOf(store, runId), [event]))]
  return note(store, runId, args, [asks, ...(token === undefined ? [] : [answering])])
}

const Received = askEvents['ask.received'].data
const Ended = z.union([askEvents['ask.answered'].data, askEvents['ask.failed'].data])

export type Ask = Awaited<ReturnType<typeof readAsk>>

/** Reads from its events what was asked, and how that ended; undefined for an unknown ask. `isTaken`: a conductor answers what is asked about the run. */
export async function readAsk(store: LedgerStore, runId: RunId, askId: AskId) {
  const { asks, answering } = runKeys(store.namespace, runId)
  const [seqs, taken] = await Promise.all([
    store.redis.hmget(asks, askId, `${askId}:end`),
    store.redis.exists(answering),
  ])
  const reading = seqs.map(async (seq) =>
    seq === null ? undefined : (await readEvents(store, runId, { after: Number(seq) - 1, limit: 1 }))[0],
  )
  const [asked, end] = await Promise.all(reading)
  if (asked === undefined) return undefined
  const { text, by } = Received.parse(asked.data)
  const ended = end === undefined ? null : { at: end.ts, ...Ended.parse(end.data) }
  return { askId, seq: asked.seq, at: asked.ts, text, by, isTaken: taken === 1, end: ended }
}
