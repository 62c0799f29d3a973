import type { ServerResponse } from 'node:http'
import type { Sink } from './serve-reader.ts'

/**
 * Makes a body of an answer that `serve` writes to. Once its head and what was given to the body are sent, the rest goes straight to
 * `outgoing`, and the body only ends it: reads of a web stream cost a third of such a frame. Some 64 KiB or one event wait for the client.
 */
export function streamBody(
  serve: (sink: Sink) => void,
  outgoing: ServerResponse | undefined,
): ReadableStream<Uint8Array> {
  let drain = () => {}
  let leave: Parameters<Sink['onLeave']>[0] = () => {}
  let direct: ServerResponse | undefined
  outgoing?.on('drain', () => drain())
  const source: UnderlyingDefaultSource<Uint8Array> = {
    start(controller) {
      serve({
        write(frames) {
          if (direct !== undefined) return direct.write(frames) ? 'taken' : 'full'
          controller.enqueue(frames)
          return 'full'
        },
        onDrain: (call) => void (drain = call),
        onLeave: (call) => void (leave = call),
        end(why) {
          if (why === 'stuck') outgoing?.destroy()
          else if (why !== 'left') controller.close()
        },
      })
    },
    pull() {
      if (outgoing?.headersSent === true) direct = outgoing
      drain()
    },
    cancel: () => leave('left'),
  }
  return new ReadableStream(source, { highWaterMark: 0 }) // so that it is pulled only when all of it is written
}
