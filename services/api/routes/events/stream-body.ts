import type { ApiEnv } from '../../http/api-env.ts'
import type { Sink } from './serve-reader.ts'

type Outgoing = ApiEnv['Bindings']['outgoing']

/**
 * Makes a body of an answer that `serve` writes to. Once its head is sent, frames go straight to `outgoing`, and the body only ends it:
 * to read each from the body would cost a third more. Some 64 KiB or one event wait for the client at a time.
 */
export function streamBody(serve: (sink: Sink) => void, outgoing: Outgoing): ReadableStream<Uint8Array> {
  let drain = () => {}
  let leave: Parameters<Sink['onLeave']>[0] = () => {}
  let direct: Outgoing
  outgoing?.on('drain', () => drain())
  return new ReadableStream<Uint8Array>(
    {
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
    },
    { highWaterMark: 0 }, // so that it is pulled only when all that it was given is written
  )
}
