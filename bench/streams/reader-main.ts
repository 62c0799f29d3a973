import { connect, type Socket } from 'node:net'
import { delay, repeatEvery } from '#platform/clock.ts'
import { type ReaderFigures, ReaderOrder, type ReaderPlan } from './open-readers.ts'

// Child process of streams-bench.ts: many readers on bare sockets, which look for the numbers and times of events and for nothing else, so
// that they cost little beside what is measured.

/** All sockets read into these: what was read is looked through at once. A slow reader takes one full, then nothing for so long. */
const buffers = { quick: Buffer.allocUnsafe(64 * 1024), slow: Buffer.allocUnsafe(32 * 1024) }
const slowEveryMs = 500
const finishWithinMs = 30_000
/** Says that the client is there, as the system of a real one answers pings. */
const pong = { bytes: Buffer.from([0x8a, 0x80, 0, 0, 0, 0]), everyMs: 10_000 }
const upgrade = `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${'A'.repeat(22)}==\r\n`

const eventMark = Buffer.from('{"v":1,"seq":')
const timeLength = '2026-11-30T12:00:00.000Z'.length
/** An event has more bytes than its beginning: the mark, a number of up to 12 digits, and its time. */
const headLength = eventMark.length + 12 + ',"ts":"'.length + timeLength
const nothing = Buffer.alloc(0)

type Reader = { plan: ReaderPlan; socket: Socket; at: number; rest: Buffer; isOpen: boolean; isGone: boolean }

const readers: Reader[] = []
const byMs = Array<number>(10_000).fill(0)
const counted = { frames: 0, lost: 0, doubled: 0 }
let isMeasured = false
let isFinishing = false

/** Events may be cut anywhere. What may be the beginning of one is kept until more comes. */
function take(reader: Reader, bytes: Buffer): void {
  const text = reader.rest.length === 0 ? bytes : Buffer.concat([reader.rest, bytes])
  const now = Date.now()
  let at = text.indexOf(eventMark)
  for (; at !== -1 && at + headLength <= text.length; at = text.indexOf(eventMark, at + headLength))
    note(reader, text.toString('latin1', at + eventMark.length, at + headLength), now)
  const isWhole = text.at(-1) === 10 || text.at(-1) === 125 // the end of a line or of JSON: neither is inside of a beginning
  reader.rest = at !== -1 ? Buffer.from(text.subarray(at)) : nothing
  if (at === -1 && !isWhole) reader.rest = Buffer.from(text.subarray(1 - eventMark.length))
}

/** `head` is an event from its number on. */
function note(reader: Reader, head: string, now: number): void {
  const seq = Number.parseInt(head, 10)
  if (seq <= reader.at) counted.doubled += 1
  else counted.lost += seq - reader.at - 1
  reader.at = Math.max(reader.at, seq)
  if (isMeasured) counted.frames += 1
  if (!isMeasured || reader.plan.isSlow) return
  const end = head.indexOf('Z') + 1
  const ms = Math.min(byMs.length - 1, Math.max(0, now - Date.parse(head.slice(end - timeLength, end))))
  byMs[ms] = (byMs[ms] ?? 0) + 1
}

function open(plan: ReaderPlan, { host, hostname, port, pathname }: URL, token: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const buffer = plan.isSlow ? buffers.slow : buffers.quick
  const callback = (count: number) => {
    const bytes = buffer.subarray(0, count)
    const start = bytes.toString('latin1', 0, reader.isOpen ? 0 : 500)
    if (!reader.isOpen && !/^HTTP\/1\.1 (?:101|200) /.test(start)) reject(new Error(`refused: ${start}`))
    reader.isOpen = true
    take(reader, bytes)
    resolve()
    return !plan.isSlow || isFinishing
  }
  const socket = connect({ host: hostname, port: Number(port), onread: { buffer, callback } })
  const reader: Reader = { plan, socket, at: plan.after, rest: nothing, isOpen: false, isGone: false }
  readers.push(reader)
  socket.once('error', reject)
  socket.once('close', () => void (reader.isGone = true))
  const headers = `Host: ${host}\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n`
  const path = `${pathname}?after=${plan.after}`
  socket.write(`GET ${path} HTTP/1.1\r\n${headers}${plan.kind === 'ws' ? upgrade : ''}\r\n`)
  return promise
}

async function finish(last: number): Promise<ReaderFigures> {
  const { frames } = counted
  const behind = Math.max(0, ...readers.map(({ at, plan }) => (plan.isSlow ? last - at : 0)))
  const startedAt = performance.now()
  isFinishing = true
  while (readers.some(({ at, isGone }) => !isGone && at < last) && performance.now() < startedAt + finishWithinMs) {
    wakeSlow()
    await delay(5)
  }
  const caughtUpMs = performance.now() - startedAt
  await delay(200) // for what is sent twice
  const missing = readers.reduce((sum, { at }) => sum + Math.max(0, last - at), 0)
  return { byMs, ...counted, frames, lost: counted.lost + missing, behind, caughtUpMs }
}

function wakeSlow(): void {
  for (const { plan, socket } of readers) if (plan.isSlow) socket.resume()
}

async function obey(message: unknown): Promise<void> {
  const order = ReaderOrder.parse(message)
  if (order.do === 'measure') isMeasured = true
  if (order.do === 'finish') process.send?.(await finish(order.last))
  if (order.do !== 'open') return
  await Promise.all(order.readers.map((plan) => open(plan, new URL(order.url), order.token)))
  process.send?.('opened')
}

process.on('message', (message) => void obey(message))
process.once('disconnect', () => process.exit(0))
void repeatEvery(slowEveryMs, async () => wakeSlow())
void repeatEvery(pong.everyMs, async () => {
  for (const { plan, socket } of readers) if (plan.kind === 'ws') socket.write(pong.bytes)
})
