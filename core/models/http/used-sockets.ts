import { buildConnector } from 'undici'

export type UsedSockets = {
  /** A way to connect, undici's own when absent, with an eye on how its sockets end. */
  watched(connect?: buildConnector.connector): buildConnector.connector
  /** Whether this error ended a socket that had brought an answer before. */
  broke(error: unknown): boolean
}

/**
 * Tells a server that fails from one that closes a socket it has answered on before, as all may at any time: llama.cpp does
 * after 100 answers. A request that meets such a socket has not been read.
 */
export function watchUsedSockets(): UsedSockets {
  const ends = new WeakSet<object>()
  return {
    broke: (error) => typeof error === 'object' && error !== null && ends.has(error),
    watched:
      (connect = buildConnector({})) =>
      (options, callback) => {
        connect(options, (...result) => {
          const [, socket] = result
          socket?.once('error', (error) => void (socket.bytesRead > 0 && ends.add(error)))
          callback(...result)
        })
      },
  }
}
