import { addAbortSignal, Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import type { ObjectStore } from '#objects/object-store.ts'
import { openS3Client, type S3ClientOptions } from './s3-client.ts'
import { isMissing, s3Error } from './s3-error.ts'
import { uploadStream } from './s3-upload.ts'

export type S3Options = S3ClientOptions & { bucket: string }

/** Opens a store over one bucket. Connects on first use; requests are tried at most four times. */
export function openS3ObjectStore(options: S3Options): ObjectStore {
  const client = openS3Client(options)
  const Bucket = options.bucket
  const at = (Key: string) => ({ Bucket, Key })
  const understood = <T>(key: string, request: Promise<T>): Promise<T> =>
    request.catch((error: unknown) => {
      throw s3Error(error, key)
    })
  return {
    async put(key, body, { contentType: ContentType = 'application/octet-stream' } = {}) {
      const Body = typeof body === 'string' ? Buffer.from(body) : body
      await understood(key, client.send(new PutObjectCommand({ ...at(key), Body, ContentType })))
    },
    async putStream(key, source, { maxBytes, contentType: ContentType }) {
      return { bytes: await understood(key, uploadStream(client, { ...at(key), ContentType }, source, maxBytes)) }
    },
    async get(key) {
      return understood(key, getBytes(client, at(key)))
    },
    getStream: (key, signal) => streamObject(client, at(key), signal),
    async exists(key) {
      try {
        await client.send(new HeadObjectCommand(at(key)))
        return true
      } catch (error) {
        if (isMissing(error)) return false
        throw s3Error(error, key)
      }
    },
    async delete(key) {
      await understood(key, client.send(new DeleteObjectCommand(at(key))))
    },
    async ping() {
      // Asks for an object: the embedded server refuses every signature of a bucket's own address. A missing bucket is
      // told apart from a missing object only by the body of a GET.
      try {
        await getBytes(client, at('ping'))
      } catch (error) {
        if (!isMissing(error)) throw s3Error(error, `bucket ${Bucket}`)
      }
    },
    close: () => client.destroy(),
  }
}

type Place = { Bucket: string; Key: string }

async function getBytes(client: S3Client, place: Place): Promise<Uint8Array> {
  const { Body } = await client.send(new GetObjectCommand(place))
  return Body === undefined ? new Uint8Array() : Body.transformToByteArray()
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
