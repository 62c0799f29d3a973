import type { Duplex } from 'node:stream'
import { type RawData, WebSocket } from 'ws'
import { isRecord, parseJson } from '#domain/json.ts'
import { repeatEvery } from '#platform/clock.ts'
import type { Frame } from '#schemas/frame-schema.ts'
import type { EndOfStream, ReaderLimits, Sink } from './serve-reader.ts'

/** The connection takes nothing more while so much of it waits in this process. */
const maxWaitingBytes = 64 * 1024

const closings: Readonly<Record<Exclude<EndOfStream, 'left'>, readonly [code: number, reason: string]>> = {
  end: [1000, 'the stream is over'],
  stopping: [1001, 'the service stops'],
  fault: [1011, 'the events cannot be read'],
  token: [4401, 'the token was revoked, or has expired'],
  gone: [4404, 'the run was deleted'],
  stuck: [4408, 'nothing was taken or answered for too long'],
}
/** A client may send so many frames, pings of the protocol among them, between two of our pings. */
const mostFrames = 100
const tooMany = [4429, 'too many frames'] as const
const badFrame = [4400, 'not a frame: {"type":"ping"} or {"type":"pong"}'] as const

type OpenedSocket = { socket: WebSocket; connection: Duplex }

/**
 * Frames go straight to `connection`, which is that of the socket. `heartbeatMs`: how often the client is asked for a sign of life, which
 * its system gives; after `stuckMs` without one it is cut. One that floods is cut, too.
 */
export function socketSink({ socket, connection }: OpenedSocket, { heartbeatMs, stuckMs }: ReaderLimits): Sink {
  let drain = () => {}
  let leave: Parameters<Sink['onLeave']>[0] = () => {}
  let heardAt = performance.now()
  const flood = watchFlood(socket)
  const hasRoom = () => socket.bufferedAmount <= maxWaitingBytes
  const stopPings = repeatEvery(heartbeatMs, async () => {
    flood.startAnew()
    if (performance.now() - heardAt > stuckMs) leave('stuck')
    else if (hasRoom()) socket.ping()
  })
  socket.on('pong', () => {
    if (!flood.hasCome()) heardAt = performance.now()
  })
  socket.on('ping', (data) => !flood.hasCome() && hasRoom() && socket.pong(data))
  socket.on('message', (data) => {
    if (flood.hasCome()) return false
    heardAt = performance.now()
    const type = typeOf(data)
    if (type === 'ping') return hasRoom() && socket.send(JSON.stringify({ type: 'pong' } satisfies Frame))
    return type !== 'pong' && socket.close(...badFrame)
  })
  socket.on('error', () => {}) // `close` follows
  socket.once('close', () => {
    void stopPings()
    leave('left')
  })
  return {
    write(frames) {
      let isFull = false
      const taken = () => {
        if (!isFull) return
        heardAt = performance.now() // what is full holds back the pings, too
        drain()
      }
      if (socket.readyState === WebSocket.OPEN) connection.write(frames, taken)
      isFull = !hasRoom()
      return isFull ? 'full' : 'taken'
    },
    onDrain: (call) => void (drain = call),
    onLeave: (call) => void (leave = call),
    end(why) {
      if (why !== 'left') socket.close(...closings[why])
    },
  }
}

/** Is called for each frame. Closes the connection after too many, and reads nothing more of it. */
function watchFlood(socket: WebSocket) {
  let frames = 0
  return {
    startAnew: () => void (frames = 0),
    hasCome(): boolean {
      frames += 1
      if (frames <= mostFrames) return false
      socket.close(...tooMany)
      socket.pause()
      return true
    },
  }
}

function typeOf(data: RawData): unknown {
  const frame = Buffer.isBuffer(data) ? parseJson(data.toString()) : undefined
  return isRecord(frame) ? frame['type'] : undefined
}
