import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** What comes out of `stream` when `source` goes through it. Leaving the loop ends both. */
export async function* throughStream(source: AsyncIterable<Uint8Array>, stream: Transform): AsyncGenerator<Uint8Array> {
  // A failure on either side destroys the stream with that error, and is thrown where the stream is read.
  pipeline(source, stream).catch(() => {})
  try {
    yield* stream
  } finally {
    stream.destroy()
  }
}
