import { addAbortSignal, Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  PutObjectCommand,
  type S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3'
import { AppError } from '#domain/error.ts'
import type { ListedObject, ObjectStore } from './object-store.ts'
import { openDirectRequests } from './direct-requests.ts'
import { openS3Client, type S3ClientOptions } from './s3-client.ts'
import { uploadStream } from './s3-upload.ts'

export type S3Options = S3ClientOptions & { bucket: string }

/** Opens a store over one bucket. Connects on first use; requests are tried three times, those of whole objects once more. */
export function openS3ObjectStore(options: S3Options): ObjectStore {
  const client = openS3Client({ ...options, maxAttempts: 3 })
  const direct = openDirectRequests(options, client.config.sha256)
  const Bucket = options.bucket
  const at = (Key: string) => ({ Bucket, Key })
  const understood = <T>(key: string, request: Promise<T>): Promise<T> =>
    request.catch((error: unknown) => {
      throw s3Error(error, key)
    })
  return {
    async put(key, body, { contentType: ContentType = 'application/octet-stream' } = {}) {
      const Body = typeof body === 'string' ? Buffer.from(body) : body
      if (await direct?.put(key, Body, ContentType)) return
      await understood(key, client.send(new PutObjectCommand({ ...at(key), Body, ContentType })))
    },
    async putStream(key, source, { maxBytes, contentType: ContentType }) {
      return { bytes: await understood(key, uploadStream(client, { ...at(key), ContentType }, source, maxBytes)) }
    },
    async get(key) {
      return (await direct?.get(key)) ?? understood(key, getBytes(client, at(key)))
    },
    async getRange(key, { start, end }) {
      const Range = `bytes=${start}-${end - 1}`
      const bytes = (await direct?.get(key, Range)) ?? (await understood(key, getBytes(client, { ...at(key), Range })))
      if (bytes.length === end - start) return bytes
      throw new AppError('STORE_002', `object store: ${key}: ${bytes.length} bytes were returned for ${Range}`)
    },
    getStream: (key, signal) => streamObject(client, at(key), signal),
    exists: async (key) => (await statObject(client, at(key))) !== undefined,
    stat: (key) => statObject(client, at(key)),
    async delete(key) {
      await understood(key, client.send(new DeleteObjectCommand(at(key))))
    },
    list: (prefix, signal) => listObjects(client, { Bucket, Prefix: prefix }, signal),
    deleteMany: (keys, signal) => deleteObjects(client, Bucket, keys, signal),
    async ping() {
      // A GET of an object needs the fewest rights; only its body distinguishes a missing bucket from a missing object.
      try {
        await getBytes(client, at('ping'))
      } catch (error) {
        if (!isMissing(error)) throw s3Error(error, `bucket ${Bucket}`)
      }
    },
    close: () => {
      direct?.close()
      client.destroy()
    },
  }
}

type Place = { Bucket: string; Key: string }

async function getBytes(client: S3Client, place: Place & { Range?: string }): Promise<Uint8Array> {
  const { Body } = await client.send(new GetObjectCommand(place))
  return Body === undefined ? new Uint8Array() : Body.transformToByteArray()
}

async function statObject(client: S3Client, place: Place): Promise<ListedObject | undefined> {
  try {
    const { LastModified, ContentLength = 0 } = await client.send(new HeadObjectCommand(place))
    if (LastModified === undefined)
      throw new AppError('STORE_002', `object store: ${place.Key} has no modification time`)
    return { key: place.Key, lastModified: LastModified.getTime(), bytes: ContentLength }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw s3Error(error, place.Key)
  }
}

async function* streamObject(client: S3Client, place: Place, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    const { Body } = await client.send(new GetObjectCommand(place), signal === undefined ? {} : { abortSignal: signal })
    if (!(Body instanceof Readable)) return
    if (signal !== undefined) addAbortSignal(signal, Body)
    for await (const chunk of Body) yield chunk
  } catch (error) {
    throw s3Error(error, place.Key, signal)
  }
}

const keysPerDelete = 1_000

/**
 * Pages by the last key seen. That is the first version of the request, which every S3 still answers: the embedded
 * server cannot make the second one's token on a current OpenSSL.
 */
async function* listObjects(
  client: S3Client,
  place: { Bucket: string; Prefix: string },
  signal?: AbortSignal,
): AsyncGenerator<ListedObject> {
  let last: string | undefined
  for (;;) {
    const page = new ListObjectsCommand({ ...place, ...(last === undefined ? {} : { Marker: last }) })
    const { Contents = [], IsTruncated = false } = await client
      .send(page, signal === undefined ? {} : { abortSignal: signal })
      .catch((error: unknown) => {
        throw s3Error(error, `list ${place.Prefix}`, signal)
      })
    for (const { Key, LastModified, Size } of Contents) {
      if (Key === undefined || LastModified === undefined) {
        throw new AppError('STORE_002', `object store: list ${place.Prefix}: an entry without key or time`)
      }
      yield { key: Key, lastModified: LastModified.getTime(), bytes: Size ?? 0 }
      last = Key
    }
    if (!IsTruncated || Contents.length === 0) return
  }
}

/** STORE_002 also when the store answers that it could not delete some of them. */
async function deleteObjects(
  client: S3Client,
  Bucket: string,
  keys: readonly string[],
  signal?: AbortSignal,
): Promise<void> {
  for (let first = 0; first < keys.length; first += keysPerDelete) {
    const slice = keys.slice(first, first + keysPerDelete)
    const Delete = { Quiet: true, Objects: slice.map((Key) => ({ Key })) }
    const { Errors = [] } = await client
      .send(new DeleteObjectsCommand({ Bucket, Delete }), signal === undefined ? {} : { abortSignal: signal })
      .catch((error: unknown) => {
        throw s3Error(error, `delete ${slice.length} objects`, signal)
      })
    const [fault] = Errors
    if (fault !== undefined) {
      const reason = `${fault.Code ?? 'no code'} for ${fault.Key ?? 'a key'}`
      const failed = `${Errors.length} of ${slice.length} objects not deleted`
      throw new AppError('STORE_002', `object store: ${failed}: ${reason}`)
    }
  }
}

/** The AppError for a failed S3 request: STORE_003 for a missing object, STORE_002 for everything else. */
function s3Error(error: unknown, key: string, signal?: AbortSignal): unknown {
  if (error instanceof AppError) return error
  if (signal?.aborted === true) return signal.reason
  if (isMissing(error)) return new AppError('STORE_003', `object ${key} is missing`, { cause: error })
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  return new AppError('STORE_002', `object store: ${key}: ${message}`, { cause: error })
}

/** A missing bucket is a fault that the operator must repair, not a missing object. */
function isMissing(error: unknown): boolean {
  if (!(error instanceof S3ServiceException) || error.name === 'NoSuchBucket') return false
  return error.name === 'NoSuchKey' || error.name === 'NotFound' || error.$metadata.httpStatusCode === 404
}
