import { createGunzip } from 'node:zlib'
import { AppError } from '#domain/error.ts'
import type { SnapshotLimits } from './snapshot-limits.ts'
import { throughStream } from './through-stream.ts'

const chunkSize = 64 * 1024

/**
 * The plain tar bytes of an archive, gunzipped if need be. INTAKE_003 as soon as it unpacks to more bytes, or to more per
 * packed byte, than allowed.
 */
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

/** INTAKE_003 for what unpacks to more bytes, or to more per packed byte, than allowed. */
export function refuseBomb({ packed, unpacked }: { packed: number; unpacked: number }, limits: SnapshotLimits): void {
  if (unpacked > limits.maxBytes) {
    throw new AppError('INTAKE_003', `the archive unpacks to more than ${limits.maxBytes} bytes`)
  }
  if (unpacked > limits.ratioFromBytes && unpacked > packed * limits.maxRatio) {
    throw new AppError('INTAKE_003', `the archive unpacks to more than ${limits.maxRatio} times its size`)
  }
}
