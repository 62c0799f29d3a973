import type { Connection } from '#client/connection.ts'
import { readStream, type StreamFrame, type StreamOptions } from '#client/read-stream.ts'
import { pause } from '#client/timers.ts'
import { whileAwake } from './while-awake.ts'

const retryMs = 2_000

type Following = {
  path: string
  categories?: StreamOptions['categories']
  /** Returns the `id` of the last frame that is known; without it each connection begins as the first one did. */
  after?: () => string | undefined
  onFrame: (frame: StreamFrame) => void
  onFault: (error: unknown) => void
  closing: AbortSignal
}

/** Follows a stream to its end or until `closing`: through sleep, and as often as the service is away. */
export async function followStream(connection: Connection, options: Following): Promise<void> {
  const { path, categories, after, onFrame, onFault, closing } = options
  await whileAwake(async (signal) => {
    while (!signal.aborted) {
      try {
        for await (const frame of readStream(connection, path, { categories, after: after?.(), signal })) {
          onFrame(frame)
          if (frame.type === 'end') return
        }
      } catch (error) {
        if (signal.aborted) return
        onFault(error)
        await pause(retryMs, signal).catch(() => {})
      }
    }
  }, closing)
}
