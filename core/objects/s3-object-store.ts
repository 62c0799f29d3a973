import { addAbortSignal, Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  S3Client,
} from '@aws-sdk/client-s3'
import type { ObjectStore } from '#objects/object-store.ts'
import { isMissing, s3Error } from './s3-error.ts'
import { uploadStream } from './s3-upload.ts'

export type S3Options = {
  /** Undefined: AWS itself. */
  endpoint: string | undefined
  bucket: string
  region: string
  /** Undefined: found as the AWS SDK finds them. */
  credentials?: { accessKeyId: string; secretAccessKey: string } | undefined
  maxSockets?: number
}

/** Opens a store over one bucket. Connects on first use; requests are tried at most four times. */
export function openS3ObjectStore(options: S3Options): ObjectStore {
  const client = openClient(options)
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

function openClient({ endpoint, region, credentials, maxSockets = 64 }: S3Options): S3Client {
  const agent = { keepAlive: true, maxSockets }
  return new S3Client({
    region,
    ...(endpoint === undefined ? {} : { endpoint, forcePathStyle: true }),
    ...(credentials === undefined ? {} : { credentials }),
    // What we store is named by its SHA-256, or checked by it; a second checksum would only cost CPU.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 4,
    requestHandler: {
      httpAgent: agent,
      httpsAgent: agent,
      connectionTimeout: 5_000,
      socketTimeout: 60_000,
    },
  })
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
