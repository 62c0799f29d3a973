import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { splitFrames, wordsOf } from './resp-frame.ts'

/** What has passed since `watch` was called. */
export type Watch = {
  /** The words of every command that reached Redis, in order, without those that set up a connection. */
  commands: string[][]
  /** How many connections were cut: 0 or 1. */
  cuts: number
  /** The answer to the command of `cutAt`, as it came. */
  lost: string
}

export type ResendProxy = {
  /** Where a client connects to instead of Redis, otherwise with the same address. */
  url: string
  /**
   * Starts a new watch; the one before hears nothing more. With `cutAt`, the command of that place (from 0) reaches
   * Redis and is carried out, but neither its answer nor a later one reaches the client: when Redis has answered all
   * that was sent, the connection is cut. Once per watch.
   */
  watch(options?: { cutAt?: number }): Watch
  close(): Promise<void>
}

/** What ioredis sends before a connection is ready. */
const handshake = new Set(['hello', 'auth', 'client', 'info', 'select', 'readonly'])

const newWatch = (): Watch => ({ commands: [], cuts: 0, lost: '' })

type Watching = { watch: Watch; cutAt: number | undefined }

/**
 * A proxy before Redis that loses answers where a test says so, for what a client does then: ioredis connects again and
 * resends what has no answer, except the rest of a pipeline that was answered in part, which fails. Every command must
 * have one answer: no subscriptions over RESP2, no MONITOR, no CLIENT REPLY.
 */
export async function openResendProxy(redisUrl: string): Promise<ResendProxy> {
  const target = new URL(redisUrl)
  let watching: Watching = { watch: newWatch(), cutAt: undefined }
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
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the proxy has no port')
  const url = new URL(redisUrl)
  url.host = `127.0.0.1:${address.port}`
  return {
    url: url.href,
    watch(options = {}) {
      watching = { watch: newWatch(), cutAt: options.cutAt }
      return watching.watch
    },
    async close() {
      for (const socket of open) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Joins one client to Redis. Both ends go when one of them does. */
function relay(client: Socket, upstream: Socket, current: () => Watching): void {
  /** Per command without an answer yet: the watch that loses it, if one does. */
  const unanswered: (Watch | undefined)[] = []
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
    const { watch, cutAt } = current()
    const counts = !handshake.has((words[0] ?? '').toLowerCase())
    unanswered.push(counts && watch.commands.length === cutAt ? watch : undefined)
    if (counts) watch.commands.push(words)
    upstream.write(command)
  })
  onFrames(upstream, (answer) => {
    // A message of RESP3 is no command's answer.
    if (!answer.toString('latin1', 0, 1).startsWith('>')) {
      const losingFromHere = unanswered.shift()
      if (losingFromHere !== undefined) losingFromHere.lost = answer.toString()
      losing ??= losingFromHere
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
