import type { MiddlewareHandler } from 'hono'
import { AppError } from '#domain/error.ts'
import type { ApiEnv } from './api-env.ts'

const maxBodyBytes = 64 * 1024

/**
 * Reads the JSON body of a request before its schema sees it, so that it is bounded: INTAKE_003 above 64 KiB. No body
 * counts as `{}`; a body of another type is HTTP_003, one that breaks off HTTP_004.
 */
export const jsonBody: MiddlewareHandler<ApiEnv> = async (context, next) => {
  const { raw } = context.req
  const type = raw.headers.get('content-type')
  const text = await readText(raw)
  const isEmpty = text.trim() === ''
  if (!isEmpty && !/^application\/json *(;|$)/i.test(type ?? '')) {
    throw new AppError('HTTP_003', 'Send the body as content-type: application/json.')
  }
  const headers = new Headers(raw.headers)
  headers.set('content-type', 'application/json')
  context.req.raw = new Request(raw.url, { method: raw.method, headers, body: isEmpty ? '{}' : text })
  await next()
}

async function readText(request: Request): Promise<string> {
  const parts: Uint8Array[] = []
  let bytes = 0
  for await (const part of arriving(request)) {
    bytes += part.byteLength
    if (bytes > maxBodyBytes) throw new AppError('INTAKE_003', `The body is longer than ${maxBodyBytes} bytes.`)
    parts.push(part)
  }
  return Buffer.concat(parts).toString()
}

/** A connection that is lost here is the client's: told apart from that of a store before anybody has to guess. */
async function* arriving(request: Request): AsyncIterable<Uint8Array> {
  try {
    yield* request.body ?? []
  } catch (cause) {
    throw new AppError('HTTP_004', 'The body broke off before its end.', { cause })
  }
}
