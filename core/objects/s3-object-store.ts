import { addAbortSignal, Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { AppError } from '#domain/error.ts'
import type { ByteRange, ListedObject, ObjectStore } from '#objects/object-store.ts'
import { openDirectRequests } from './direct-requests.ts'
import { openS3Client, type S3ClientOptions } from './s3-client.ts'
import { isMissing, s3Error } from './s3-error.ts'
import { deleteObjects, listObjects } from './s3-many.ts'
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
    async getRange(key, range) {
      const Range = rangeHeader(range)
      const bytes = (await direct?.get(key, Range)) ?? (await understood(key, getBytes(client, { ...at(key), Range })))
      if (bytes.length === range.end - range.start) return bytes
      throw new AppError('STORE_002', `object store: ${key}: ${bytes.length} bytes came for ${Range}`)
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
      // Asks for an object, for which the least rights do. A missing bucket is told apart from a missing object only by
      // the body of a GET.
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

/** HTTP names the last byte, not the one after it. */
function rangeHeader({ start, end }: ByteRange): string {
  return `bytes=${start}-${end - 1}`
}

async function getBytes(client: S3Client, place: Place & { Range?: string }): Promise<Uint8Array> {
  const { Body } = await client.send(new GetObjectCommand(place))
  return Body === undefined ? new Uint8Array() : Body.transformToByteArray()
}

async function statObject(client: S3Client, place: Place): Promise<ListedObject | undefined> {
  try {
    const { LastModified, ContentLength = 0 } = await client.send(new HeadObjectCommand(place))
    if (LastModified === undefined) throw new AppError('STORE_002', `object store: ${place.Key} has no time`)
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
