import { getOrMake } from '#platform/cached-answers.ts'
import type { Frame } from '#schemas/frame-schema.ts'
import type { LogEntry, Position } from './follow-log.ts'

/** Lists what a stream has besides its events. `ping` is sent after a silence. */
type ControlFrame = Exclude<Frame, { type: 'event' }>
export type FirstFrame = Extract<Frame, { type: 'connected' | 'resync' }>

/** How frames are written to one kind of connection: the bytes that go out as they are. */
export type Wire = {
  events(entries: readonly LogEntry[]): Buffer
  /** `at` is behind the last event that the reader was given or that its filter has left out. */
  control(frame: ControlFrame, at: Position): Buffer
}

/** A client is asked to wait so long before it connects again. */
const reconnectMs = 2_000

export const serverSentEvents: Wire = {
  events: (entries) => Buffer.from(entries.map(({ id, json }) => `id: ${id}\ndata: ${json}\n\n`).join('')),
  control({ type, ...data }, at) {
    if (type === 'ping') return Buffer.from(`: heartbeat\nid: ${at}\n\n`)
    const retry = type === 'connected' ? `retry: ${reconnectMs}\n` : ''
    const id = type === 'end' || 'id' in data ? `id: ${at}\n` : ''
    return Buffer.from(`${retry}${id}event: ${type}\ndata: ${JSON.stringify(data)}\n\n`)
  },
}

/** One message for each frame, framed here once for all its readers: `ws` would do it for each. */
export const socketMessages: Wire = {
  events: (entries) =>
    Buffer.concat(entries.flatMap(({ id, json }) => messageOf(`{"type":"event","id":"${id}","event":${json}}`))),
  control(frame, at) {
    return Buffer.concat(messageOf(JSON.stringify(frame.type === 'ping' ? { ...frame, id: at } : frame)))
  },
}

/** Returns a whole message of text as a server sends it, unmasked (RFC 6455, 5.2). */
function messageOf(text: string): [head: Buffer, body: Buffer] {
  const body = Buffer.from(text)
  const isShort = body.length < 126
  const head = Buffer.alloc(isShort ? 2 : body.length < 2 ** 16 ? 4 : 10)
  head.set([0x81, isShort ? body.length : head.length === 4 ? 126 : 127])
  if (!isShort) head.writeUIntBE(body.length, head.length === 4 ? 2 : 4, head.length === 4 ? 2 : 6)
  return [head, body]
}

/** Returns a wire that writes the same entries for the same filter only once, for all their readers. */
export function sharedWire(wire: Wire) {
  type Texts = Map<string, Buffer>
  const written = new WeakMap<readonly LogEntry[], Texts>()
  const newTexts = (): Texts => new Map()
  return {
    events(entries: readonly LogEntry[], categories?: ReadonlySet<string>): Buffer {
      const name = categories === undefined ? '' : [...categories].toSorted().join()
      const wanted = () => entries.filter(({ category }) => categories?.has(category) ?? true)
      return getOrMake(getOrMake(written, entries, newTexts), name, () => wire.events(wanted()))
    },
    control: wire.control,
  }
}
