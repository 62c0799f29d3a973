import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Busboy, type BusboyHeaders, type BusboyInstance } from '@fastify/busboy'
import { AppError } from '#domain/error.ts'

/** `archive` is the upload as it arrives; it is read once, and nothing of it is kept in memory. */
export type RunForm = { request: unknown; archive: AsyncIterable<Uint8Array> }

/** Of the `request` field: room for as many nodes as it may name. */
export const maxRequestBytes = 2 * 1024 * 1024
const limits = { fieldSize: maxRequestBytes, fields: 1, files: 1, parts: 2, headerPairs: 20 }

/**
 * Reads a `multipart/form-data` body with the fields `request` (JSON) and `archive`, in that order, and hands them to
 * `use` while the archive is still arriving. The order is what lets the archive flow to the object store unbuffered; any
 * other is INTAKE_008. A body that breaks off is INTAKE_001.
 */
export async function withRunForm<T>(incoming: Request, use: (form: RunForm) => Promise<T>): Promise<T> {
  const parser = openParser(incoming.headers.get('content-type') ?? '')
  if (incoming.body === null) throw new AppError('INTAKE_008', 'The body is empty.')
  const stop = new AbortController()
  const start = firstParts(parser)
  const arriving = pipeline(Readable.fromWeb(incoming.body), parser, { signal: stop.signal })
  const broken = arriving.then(missingArchive, brokenOff)
  try {
    const { request, archive } = await Promise.race([start, broken])
    broken.catch((error: Error) => archive.destroy(error))
    return await use({ request, archive: readWhole(archive) })
  } finally {
    stop.abort()
    await arriving.catch(() => {}) // whoever read the archive has met it
  }
}

async function* readWhole(archive: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  try {
    yield* archive
  } catch (error) {
    brokenOff(error)
  }
}

function openParser(contentType: string): BusboyInstance {
  if (!/^multipart\/form-data *;/i.test(contentType)) {
    throw new AppError(
      'HTTP_003',
      'Send multipart/form-data with the fields "request" (JSON) and "archive", in that order.',
    )
  }
  const headers: BusboyHeaders = { 'content-type': contentType }
  try {
    return new Busboy({ headers, limits, isPartAFile: (name) => name === 'archive' })
  } catch (error) {
    throw new AppError('INTAKE_008', 'The multipart header has no boundary.', { cause: error })
  }
}

/** Settles when the archive begins. Rejects when the request is missing by then, too long, or no JSON. */
function firstParts(parser: BusboyInstance): Promise<{ request: unknown; archive: Readable }> {
  return new Promise((resolve, reject) => {
    let request: string | undefined
    parser.on('field', (name, value, _nameTruncated, valueTruncated) => {
      if (name !== 'request') return reject(new AppError('INTAKE_008', `unknown field "${name}"`))
      if (valueTruncated) return reject(new AppError('INTAKE_008', `request is longer than ${limits.fieldSize} bytes`))
      request = value
    })
    parser.on('file', (_name, archive) => {
      archive.on('error', () => {}) // a break before anybody reads must not end the process; a reader still sees it
      if (request === undefined) {
        archive.resume()
        return reject(new AppError('INTAKE_008', 'The field "request" must come before "archive".'))
      }
      try {
        resolve({ request: JSON.parse(request), archive })
      } catch (error) {
        archive.resume()
        reject(new AppError('INTAKE_008', 'request: not JSON', { cause: error }))
      }
    })
  })
}

function missingArchive(): never {
  throw new AppError('INTAKE_008', 'The field "archive" is missing.')
}

function brokenOff(cause: unknown): never {
  if (cause instanceof AppError) throw cause
  throw new AppError('INTAKE_001', 'The upload broke off or is not valid multipart/form-data.', { cause })
}
