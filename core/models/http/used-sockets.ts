import { buildConnector } from 'undici'

export type UsedSockets = {
  /** undici's own way to connect, with an eye on how its sockets end. */
  connect: buildConnector.connector
  /** Whether this error ended a socket that had brought an answer before. */
  broke(error: unknown): boolean
}

/**
 * Tells a server that fails from one that closes a socket it has answered on before, as all may at any time: llama.cpp does
 * after 100 answers. A request that meets such a socket has not been read.
 */
export function watchUsedSockets(): UsedSockets {
  const connect = buildConnector({})
  const ends = new WeakSet<object>()
  return {
    broke: (error) => typeof error === 'object' && error !== null && ends.has(error),
    connect(options, callback) {
      connect(options, (...result) => {
        const [, socket] = result
        socket?.once('error', (error) => void (socket.bytesRead > 0 && ends.add(error)))
        callback(...result)
      })
    },
  }
}
