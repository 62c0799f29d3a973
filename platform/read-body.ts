import { Readable } from 'node:stream'
import { AppError } from '#domain/error.ts'

/** INTAKE_003 for a body of more than `maxBytes`, HTTP_004 for one that breaks off, HTTP_006 for one that is late for `signal`. */
export async function readBody(request: Request, { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal }) {
  const tooLong = new AppError('INTAKE_003', `The body is longer than ${maxBytes} bytes.`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLong
  const body = await readAtMost(arriving(request, signal), maxBytes)
  if (body.length > maxBytes) throw tooLong
  return body
}

/** Reads a body until it ends or has more than `maxBytes`, and fetches no more; a result of more than `maxBytes` is the beginning of it. */
export async function readAtMost(body: AsyncIterable<Uint8Array> | null, maxBytes: number): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    bytes += chunk.byteLength
    if (bytes > maxBytes) break
  }
  return Buffer.concat(chunks).subarray(0, maxBytes + 1)
}

/** A connection that breaks here is the client's. It gets its own code, so that it is not taken for that of a store. */
async function* arriving({ body }: Request, signal?: AbortSignal): AsyncIterable<Uint8Array> {
  if (body === null) return
  try {
    yield* signal === undefined ? body : Readable.fromWeb(body, { signal })
  } catch (cause) {
    if (signal?.aborted) throw new AppError('HTTP_006', 'The body came too slowly.', { cause })
    throw new AppError('HTTP_004', 'The body broke off before its end.', { cause })
  }
}
