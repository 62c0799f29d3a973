import { Readable } from 'node:stream'
import { AppError } from '#domain/error.ts'

/**
 * INTAKE_003 for a body of more than `maxBytes`; what comes after them is not read. HTTP_004 for one that breaks off, HTTP_006 for
 * one that has not come when `signal` is aborted.
 */
export async function readBody(
  request: Request,
  { maxBytes, signal }: { maxBytes: number; signal?: AbortSignal },
): Promise<Buffer> {
  const tooLong = new AppError('INTAKE_003', `The body is longer than ${maxBytes} bytes.`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLong
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of arriving(request, signal)) {
    bytes += part.byteLength
    if (bytes > maxBytes) throw tooLong
    parts.push(part)
  }
  return Buffer.concat(parts)
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
