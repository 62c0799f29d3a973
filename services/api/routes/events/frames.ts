import { getOrMake } from '#platform/cached-answers.ts'
import type { Frame } from '#schemas/frame-schema.ts'
import type { LogEntry, Position } from './follow-log.ts'

/** Lists what a stream has besides its events. `ping` is sent after a silence. */
type ControlFrame = Exclude<Frame, { type: 'event' }>
export type FirstFrame = Extract<Frame, { type: 'connected' | 'resync' }>

/** How frames are written to one kind of connection; each text is sent whole. */
export type Wire = {
  events(entries: readonly LogEntry[]): readonly Buffer[]
  /** `at` is behind the last event that the reader was given or that its filter has left out. */
  control(frame: ControlFrame, at: Position): Buffer
}

/** A client is asked to wait so long before it connects again. */
const reconnectMs = 2_000

export const serverSentEvents: Wire = {
  events: (entries) => [Buffer.from(entries.map(({ id, json }) => `id: ${id}\ndata: ${json}\n\n`).join(''))],
  control({ type, ...data }, at) {
    if (type === 'ping') return Buffer.from(`: heartbeat\nid: ${at}\n\n`)
    const retry = type === 'connected' ? `retry: ${reconnectMs}\n` : ''
    const id = type === 'end' || 'id' in data ? `id: ${at}\n` : ''
    return Buffer.from(`${retry}${id}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  },
}

/** One message for each frame. */
export const socketMessages: Wire = {
  events: (entries) => entries.map(({ id, json }) => Buffer.from(`{"type":"event","id":"${id}","event":${json}}`)),
  control(frame, at) {
    return Buffer.from(JSON.stringify(frame.type === 'ping' ? { ...frame, id: at } : frame))
  },
}

/** Returns a wire that writes the same entries for the same filter only once, for all their readers. */
export function sharedWire(wire: Wire) {
  type Texts = Map<string, readonly Buffer[]>
  const written = new WeakMap<readonly LogEntry[], Texts>()
  const newTexts = (): Texts => new Map()
  return {
    events(entries: readonly LogEntry[], category = ''): readonly Buffer[] {
      const wanted = () => (category === '' ? entries : entries.filter((entry) => entry.category === category))
      return getOrMake(getOrMake(written, entries, newTexts), category, () => {
        const shown = wanted()
        return shown.length === 0 ? [] : wire.events(shown)
      })
    },
    control: wire.control,
  }
}
