import type { NewEvent } from '#domain/event.ts'
import type { TalkPart } from '#store/objects/attempt-record.ts'
import type { AgentEvent } from '../agent/journal.ts'
import { openUntoldTalk } from './untold-talk.ts'

/** `talk`: what the attempt has said, which goes with them. `reserve`: the tokens that are reserved once they are counted. */
export type EventBatch = {
  n: number
  events: NewEvent[]
  talk?: TalkPart | undefined
  reserve?: number | undefined
}

/** The most that one command sends to Redis, where no other command runs during a script. */
const maxEvents = 128
const maxBytes = 256 * 1024

/** Numbers an attempt's events in batches of a bounded size. One is sent again until it has arrived, or is refused for good. */
export type EventBatches = ReturnType<typeof openEventBatches>

type Teller = { workerId: string; attempt: number }

export function openEventBatches({ workerId, attempt }: Teller, untold = openUntoldTalk()) {
  const origin = { kind: 'worker', id: workerId } as const
  const whole = (event: AgentEvent, ageMs: number) => ofAttempt(event, { origin, attempt, ageMs })
  const pending: (SizedEvent & { at: number })[] = []
  let batch: EventBatch | undefined
  let inBatch: typeof pending = []
  let reserve: number | undefined
  let last = 0
  return {
    /** Leaves out an event that cannot be written. */
    add: (event: AgentEvent) => void pending.push(...sized(event).map((one) => ({ ...one, at: performance.now() }))),
    /** Goes with the last of the events that were added before. */
    reserve: (tokens: number) => void (reserve = tokens),
    next(): EventBatch {
      if (batch !== undefined) return batch
      const now = performance.now()
      inBatch = pending.splice(0, fitting(pending))
      const events = inBatch.map(({ event, at }) => whole(event, Math.round(now - at)))
      batch = { n: (last += 1), events, talk: untold.next(), ...(pending.length === 0 && { reserve }) }
      if (pending.length === 0) reserve = undefined
      return batch
    },
    /** Returns the next batch with all that was said, and with events that are true only once the command is carried out that it goes with. */
    lastWith(closing: readonly AgentEvent[]): EventBatch {
      const { n, events } = this.next()
      return { n, events: [...events, ...closing.map((event) => whole(event, 0))], talk: untold.rest() }
    },
    arrived() {
      untold.wasTold(batch?.talk)
      batch = undefined
    },
    /**
     * The batch in flight was refused. What was said goes first: with the next one, unless it was refused for good. Then the events are sent one by
     * one, and one that is refused by itself is dropped.
     */
    reduce({ forGood }: { forGood: boolean }) {
      if (batch === undefined) return
      if (forGood) untold.wasTold(batch.talk)
      reserve = batch.reserve ?? reserve
      if (batch.talk === undefined && batch.events.length > 1) pending.unshift(...inBatch.splice(1))
      batch = reduced(batch)
    },
    get inFlight() {
      return batch !== undefined
    },
    get waiting() {
      return pending.length > 0 || reserve !== undefined
    },
  }
}

function reduced({ n, events, talk }: EventBatch): EventBatch {
  if (talk !== undefined) return { n, events }
  return { n, events: events.length > 1 ? events.slice(0, 1) : [] }
}

function fitting(pending: readonly SizedEvent[]): number {
  let [count, bytes] = [0, 0]
  for (const event of pending) {
    bytes += event.bytes
    if (count === maxEvents || (count > 0 && bytes > maxBytes)) break
    count++
  }
  return count
}

type Told = Pick<NewEvent, 'origin' | 'ageMs'> & { attempt: number }

function ofAttempt(event: AgentEvent, { attempt, ...told }: Told): NewEvent {
  return Object.assign({}, event, { ...told, data: { attempt, ...event.data } })
}

type SizedEvent = { event: AgentEvent; bytes: number }

/** None for data that is no JSON, or nested too deep to be written. */
function sized(event: AgentEvent): SizedEvent[] {
  try {
    return [{ event, bytes: Buffer.byteLength(JSON.stringify(event.data)) }]
  } catch {
    return []
  }
}
