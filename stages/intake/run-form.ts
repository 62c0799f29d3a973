import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { AppError } from '#domain/error.ts'

/** The two parts of a submission, in the order in which they arrive. */
export type RunForm = {
  /** The JSON value of the part `request`, not yet checked; undefined when the archive comes first. */
  request: unknown
  /** The upload as it arrives. It can be read once, and is not held in memory. */
  archive: AsyncIterable<Uint8Array>
  /** Call it when the archive has been read to its end: resolves with the request once the whole form has arrived. */
  wholeRequest(): Promise<unknown>
}

/** Leaves room in the part `request` for as many nodes as it may name. */
export const maxRequestBytes = 2 * 1024 * 1024
/** One part more than there may be, so that a part too many is refused by its name instead of being skipped. */
const limits = { fieldSize: maxRequestBytes, fields: 2, files: 2, parts: 3, headerPairs: 20 }

/**
 * Passes the parts `request` (JSON) and `archive`, in either order, to `use` while the archive is still arriving. INTAKE_008 when a part is
 * missing, sent twice, unknown or not valid, INTAKE_001 when the body breaks off; after the archive `wholeRequest` throws it.
 */
export async function withRunForm<T>(incoming: Request, use: (form: RunForm) => Promise<T>): Promise<T> {
  const parser = openParser(incoming.headers.get('content-type') ?? '')
  if (incoming.body === null) throw new AppError('INTAKE_008', 'The body is empty.')
  const stop = new AbortController()
  const parts = readParts(parser)
  const arriving = pipeline(Readable.fromWeb(incoming.body), parser, { signal: stop.signal })
  const whole = Promise.race([arriving.then(parts.request, brokenOff), parts.fault])
  try {
    const { request, archive } = await Promise.race([parts.archive, whole.then(missingArchive)])
    whole.catch((error: Error) => archive.destroy(error))
    return await use({ request, archive: readWhole(archive), wholeRequest: () => whole })
  } finally {
    stop.abort()
    await arriving.catch(() => {}) // the reader of the archive has received the error
  }
}

function openParser(contentType: string): BusboyInstance {
  if (!/^multipart\/form-data *;/i.test(contentType)) {
    const forms =
      'Send multipart/form-data with the fields "request" (JSON) and "archive", or application/json with "repository".'
    throw new AppError('HTTP_003', forms)
  }
  const headers: BusboyHeaders = { 'content-type': contentType }
  try {
    return new Busboy({ headers, limits, isPartAFile: (name) => name === 'archive' })
  } catch (error) {
    throw new AppError('INTAKE_008', 'The multipart header has no boundary.', { cause: error })
  }
}

type Parts = {
  /** Settles when the archive begins, with the request if it came before. */
  archive: Promise<{ request: unknown; archive: Readable }>
  /** Rejects at the first part that is refused. */
  fault: Promise<never>
  /** Is called at the end of the form. Throws INTAKE_008 when a part is missing. */
  request(): unknown
}

function readParts(parser: BusboyInstance): Parts {
  const begun = Promise.withResolvers<{ request: unknown; archive: Readable }>()
  const fault = Promise.withResolvers<never>()
  const refuse = (message: string, cause?: unknown) => fault.reject(new AppError('INTAKE_008', message, { cause }))
  const seen = new Set<string>()
  let request: unknown
  parser.on('field', (name, value, _nameTruncated, valueTruncated) => {
    if (name !== 'request') return refuse(`unknown field "${name}"`)
    if (seen.has(name)) return refuse('The field "request" is there twice.')
    if (valueTruncated) return refuse(`request is longer than ${limits.fieldSize} bytes`)
    seen.add(name)
    try {
      request = JSON.parse(value)
    } catch (error) {
      refuse('request: not JSON', error)
    }
  })
  parser.on('file', (name, archive) => {
    archive.on('error', () => {}) // a break before anybody reads must not end the process; a reader still sees it
    if (seen.has(name)) {
      archive.resume()
      return refuse('The field "archive" is there twice.')
    }
    seen.add(name)
    begun.resolve({ request, archive })
  })
  return {
    archive: begun.promise,
    fault: fault.promise,
    request() {
      for (const name of ['archive', 'request']) {
        if (!seen.has(name)) throw new AppError('INTAKE_008', `The field "${name}" is missing.`)
      }
      return request
    },
  }
}

/** Refuses a form that was read to its end before an archive began. */
function missingArchive(): never {
  throw new AppError('INTAKE_008', 'The field "archive" is missing.')
}

async function* readWhole(archive: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* archive
  } catch (error) {
    brokenOff(error)
  }
}

function brokenOff(cause: unknown): never {
  if (cause instanceof AppError) throw cause
  throw new AppError('INTAKE_001', 'The upload broke off or is not valid multipart/form-data.', { cause })
}
