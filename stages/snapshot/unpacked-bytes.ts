import { createGunzip } from 'node:zlib'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AppError } from '#domain/error.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'

const chunkSize = 64 * 1024

export async function* unpackedBytes(
  archive: AsyncIterable<Uint8Array>,
  { isGzipped }: { isGzipped: boolean },
  limits: SnapshotLimits,
): AsyncGenerator<Uint8Array> {
  let packed = 0
  let unpacked = 0
  async function* counted() {
    for await (const chunk of archive) {
      packed += chunk.length
      yield chunk
    }
  }
  for await (const chunk of isGzipped ? throughStream(counted(), createGunzip({ chunkSize })) : counted()) {
    unpacked += chunk.length
    refuseBomb({ packed, unpacked }, limits)
    yield chunk
  }
}

/** INTAKE_003 for an archive that unpacks to more bytes, or to more per packed byte, than allowed. */
export function refuseBomb({ packed, unpacked }: { packed: number; unpacked: number }, limits: SnapshotLimits): void {
  if (unpacked > limits.maxBytes) {
    throw new AppError('INTAKE_003', `the archive unpacks to more than ${limits.maxBytes} bytes`)
  }
  if (unpacked > limits.ratioFromBytes && unpacked > packed * limits.maxRatio) {
    throw new AppError('INTAKE_003', `the archive unpacks to more than ${limits.maxRatio} times its size`)
  }
}

export async function* throughStream(source: AsyncIterable<Uint8Array>, stream: Transform): AsyncGenerator<Uint8Array> {
  // A failure on either side destroys the stream with that error, and is thrown where the stream is read.
  pipeline(source, stream).catch(() => {})
  try {
    yield* stream
  } finally {
    stream.destroy()
  }
}
