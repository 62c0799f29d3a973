import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { boundPort } from '#platform/http-health.ts'

/** The traffic since the call of `watch`. */
export type Watch = {
  /** The words of every command that reached Redis, in order, without those that set up a connection. */
  commands: string[][]
  /** How many connections were cut: 0 or 1. */
  cuts: number
  /** The answer to the command of `cutAt`, as received. */
  lost: string
}

export type WatchOptions = { cutAt?: number; cutWhen?(words: readonly string[]): boolean; onLost?(): void }

export type ResendProxy = {
  /** The address for a client in place of that of Redis. */
  url: string
  /**
   * Ends the previous watch. With `cutAt`, Redis carries out the command of that place (from 0), but the client gets no
   * answer from there on: the connection is cut when Redis has answered all. Once per watch. `cutWhen` names the command by its
   * words instead of its place; `onLost` is told as soon as Redis has answered it.
   */
  watch(options?: WatchOptions): Watch
  close(): Promise<void>
}

/** What ioredis sends before a connection is ready. */
const handshake = new Set(['hello', 'auth', 'client', 'info', 'select', 'readonly'])

const newWatch = (): Watch => ({ commands: [], cuts: 0, lost: '' })

type Watching = WatchOptions & { watch: Watch }

/**
 * A proxy in front of Redis that drops answers where a test tells it to, to test what a client does then: ioredis
 * connects again and resends what has no answer, except the rest of a pipeline that was answered in part, which fails.
 * Every command must have one answer: no subscriptions over RESP2, no MONITOR, no CLIENT REPLY.
 */
export async function openResendProxy(redisUrl: string): Promise<ResendProxy> {
  const target = new URL(redisUrl)
  let watching: Watching = { watch: newWatch() }
  const open = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect({ host: target.hostname, port: Number(target.port) })
    for (const socket of [client, upstream]) {
      open.add(socket)
      socket.on('close', () => open.delete(socket))
    }
    relay(client, upstream, () => watching)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = new URL(redisUrl)
  url.host = `127.0.0.1:${boundPort(server)}`
  return {
    url: url.href,
    watch(options = {}) {
      watching = { ...options, watch: newWatch() }
      return watching.watch
    },
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Connects one client to Redis. When one end closes, both do. */
function relay(client: Socket, upstream: Socket, current: () => Watching): void {
  /** Per command without an answer yet: the watch that loses it, if one does. */
  const unanswered: (Watching | undefined)[] = []
  let losing: Watch | undefined
  const end = () => {
    client.destroy()
    upstream.destroy()
  }
  for (const socket of [client, upstream]) {
    socket.on('error', end)
    socket.on('close', end)
  }
  onFrames(client, (command) => {
    const words = wordsOf(command)
    const watching = current()
    const { watch, cutAt, cutWhen } = watching
    const counts = !handshake.has((words[0] ?? '').toLowerCase())
    const isLost = counts && (watch.commands.length === cutAt || cutWhen?.(words) === true)
    unanswered.push(isLost ? watching : undefined)
    if (counts) watch.commands.push(words)
    upstream.write(command)
  })
  onFrames(upstream, (answer) => {
    // A message of RESP3 is no command's answer.
    if (!answer.toString('latin1', 0, 1).startsWith('>')) {
      const losingFromHere = unanswered.shift()
      if (losingFromHere !== undefined) losingFromHere.watch.lost = answer.toString()
      if (losing === undefined) losingFromHere?.onLost?.()
      losing ??= losingFromHere?.watch
    }
    if (losing === undefined) client.write(answer)
    else if (unanswered.length === 0) {
      losing.cuts += 1
      end()
    }
  })
}

function onFrames(socket: Socket, take: (frame: Buffer) => void): void {
  let rest = Buffer.alloc(0)
  socket.on('data', (chunk: Buffer) => {
    const split = splitFrames(Buffer.concat([rest, chunk]))
    rest = Buffer.from(split.rest)
    for (const frame of split.frames) take(frame)
  })
}

/** The index after the last byte of the value at `start`; undefined while some of it is still to come. */
function frameEnd(bytes: Buffer, start = 0): number | undefined {
  const lineEnd = bytes.indexOf('\r\n', start)
  if (lineEnd === -1) return undefined
  const type = bytes.toString('latin1', start, start + 1)
  const size = Number(bytes.toString('latin1', start + 1, lineEnd))
  const body = lineEnd + 2
  if (type === '$') return bulkEnd(bytes, body, size)
  // A map of RESP3 has a name before each value.
  if (type === '%') return valuesEnd(bytes, body, 2 * size)
  return type === '*' ? valuesEnd(bytes, body, size) : body
}

function bulkEnd(bytes: Buffer, body: number, size: number): number | undefined {
  if (size < 0) return body
  const end = body + size + 2
  return end <= bytes.length ? end : undefined
}

function valuesEnd(bytes: Buffer, body: number, values: number): number | undefined {
  let end = body
  for (let left = values; left > 0; left -= 1) {
    const next = frameEnd(bytes, end)
    if (next === undefined) return undefined
    end = next
  }
  return end
}

/** The complete values at the start of the received bytes, and the remaining bytes. */
function splitFrames(bytes: Buffer): { frames: Buffer[]; rest: Buffer } {
  const frames: Buffer[] = []
  let start = 0
  for (;;) {
    const end = frameEnd(bytes, start)
    if (end === undefined) return { frames, rest: bytes.subarray(start) }
    frames.push(bytes.subarray(start, end))
    start = end
  }
}

/** The words of a command: clients send it as a list of bulk strings. */
function wordsOf(command: Buffer): string[] {
  const words: string[] = []
  for (let at = command.indexOf('\r\n') + 2; at < command.length;) {
    const body = command.indexOf('\r\n', at) + 2
    const end = body + Number(command.toString('latin1', at + 1, body - 2))
    words.push(command.toString('utf8', body, end))
    at = end + 2
  }
  return words
}
