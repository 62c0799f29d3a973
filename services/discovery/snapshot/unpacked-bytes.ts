import { pipeline } from 'node:stream/promises'
import { createGunzip } from 'node:zlib'
import { AppError } from '#domain/error.ts'
import { sniffArchive, sniffBytes } from '#domain/archive-magic.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'

const chunkSize = 64 * 1024

/**
 * The plain tar bytes of an archive, gunzipped if need be. INTAKE_001 when it is neither a tar nor a gzip, INTAKE_003
 * as soon as it unpacks to more bytes, or to more per packed byte, than allowed.
 */
export async function* unpackedBytes(
  archive: AsyncIterable<Uint8Array>,
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
  for await (const chunk of plainBytes(counted())) {
    unpacked += chunk.length
    if (unpacked > limits.maxBytes) {
      throw new AppError('INTAKE_003', `the archive unpacks to more than ${limits.maxBytes} bytes`)
    }
    if (unpacked > limits.ratioFromBytes && unpacked > packed * limits.maxRatio) {
      throw new AppError('INTAKE_003', `the archive unpacks to more than ${limits.maxRatio} times its size`)
    }
    yield chunk
  }
}

async function* plainBytes(archive: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  const first = await firstBytes(archive)
  async function* whole() {
    yield first
    yield* archive
  }
  const format = sniffArchive(first)
  if (format === 'tar') yield* whole()
  else if (format === 'tar.gz') yield* gunzip(whole())
  else throw new AppError('INTAKE_001', 'the upload is neither a tar nor a gzipped tar archive')
}

/** Enough bytes to tell the format, or all there are. */
async function firstBytes(archive: AsyncGenerator<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  while (bytes < sniffBytes) {
    const next = await archive.next()
    if (next.done === true) break
    chunks.push(next.value)
    bytes += next.value.length
  }
  return Buffer.concat(chunks)
}

async function* gunzip(packed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const stream = createGunzip({ chunkSize })
  // A failure on either side destroys the stream with that error, and is thrown where the stream is read.
  pipeline(packed, stream).catch(() => {})
  try {
    yield* stream
  } finally {
    stream.destroy()
  }
}
