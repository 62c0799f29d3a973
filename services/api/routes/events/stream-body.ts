import type { Sink } from './serve-reader.ts'

/**
 * Makes a body of an answer that `serve` writes to. One text, of at most 64 KiB or one event, waits for the client at a time. `cut` breaks the
 * connection of a client that takes nothing.
 */
export function streamBody(serve: (sink: Sink) => void, cut: () => void): ReadableStream<Uint8Array> {
  let drain = () => {}
  let leave: Parameters<Sink['onLeave']>[0] = () => {}
  return new ReadableStream<Uint8Array>({
    start(controller) {
      serve({
        write(frames) {
          controller.enqueue(frames)
          return (controller.desiredSize ?? 0) > 0 ? 'taken' : 'full'
        },
        onDrain: (call) => void (drain = call),
        onLeave: (call) => void (leave = call),
        end(why) {
          if (why === 'stuck') cut()
          else if (why !== 'left') controller.close()
        },
      })
    },
    pull: () => drain(),
    cancel: () => leave('left'),
  })
}
