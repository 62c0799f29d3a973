import { addAbortSignal, Readable } from 'node:stream'
import {
  DeleteObjectCommand,
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsCommand,
  PutObjectCommand,
  type S3Client,
} from '@aws-sdk/client-s3'
import { AppError } from '#domain/error.ts'
import type { ListedObject, ObjectStore } from './object-store.ts'
import { openDirectRequests } from './direct-requests.ts'
import { openS3Client, type S3ClientOptions } from './s3-client.ts'
import { isMissing, s3Error, watchRoom } from './store-fault.ts'
import { uploadStream } from './s3-upload.ts'

export type S3Options = S3ClientOptions & { bucket: string }

/** Opens a store over one bucket. Connects on first use; requests are tried three times, those of whole objects once more. */
export function openS3ObjectStore(options: S3Options): ObjectStore {
  const client = openS3Client({ ...options, maxAttempts: 3 })
  const direct = openDirectRequests(options)
  const Bucket = options.bucket
  const at = (Key: string) => ({ Bucket, Key })
  const understood = <T>(key: string, request: Promise<T>): Promise<T> =>
    request.catch((error: unknown) => {
      throw s3Error(error, key)
    })
  const room = watchRoom()
  const pinger = openPinger(options, room)
  const put = async (key: string, Body: Uint8Array, ContentType: string) => {
    if (await direct?.put(key, Body, ContentType)) return
    await understood(key, client.send(new PutObjectCommand({ ...at(key), Body, ContentType })))
  }
  return {
    async put(key, body, { contentType = 'application/octet-stream' } = {}) {
      await room.noted(put(key, typeof body === 'string' ? Buffer.from(body) : body, contentType))
    },
    async putStream(key, source, { maxBytes, contentType: ContentType }) {
      const sent = uploadStream(client, { ...at(key), ContentType }, source, maxBytes)
      return { bytes: await room.noted(understood(key, sent)) }
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
    ping: pinger.ping,
    close: () => {
      direct?.close()
      pinger.close()
      client.destroy()
    },
  }
}

/** The key belongs to no project, so no collection looks at it. It is written only by a store that was full. */
const pingKey = 'ping'
/** Is longer than a busy process needs to read an answer. */
const pingMs = 3_000
/** A disk that is full may still take a few bytes. */
const pingBytes = 65_536

/** Pings on a socket of their own, each tried once: none waits for other requests, or asks a store in trouble again. */
function openPinger(options: S3Options, room: ReturnType<typeof watchRoom>) {
  const client = openS3Client({ ...options, maxAttempts: 1, maxSockets: 1 })
  const ref = { Bucket: options.bucket, Key: pingKey }
  // Reading does not show whether there is room again.
  const write = async (abortSignal: AbortSignal) => {
    const ping = new PutObjectCommand({
      ...ref,
      Body: Buffer.alloc(pingBytes),
      ContentType: 'application/octet-stream',
    })
    await client.send(ping, { abortSignal })
  }
  return {
    async ping(): Promise<void> {
      const signal = AbortSignal.timeout(pingMs)
      try {
        if (room.isLacking()) await room.noted(write(signal))
        // A GET of an object needs the fewest rights; only its body distinguishes a missing bucket from a missing object.
        else await getBytes(client, ref, signal)
      } catch (error) {
        if (!isMissing(error)) throw s3Error(error, `bucket ${options.bucket}`)
      }
    },
    close: () => client.destroy(),
  }
}

type Place = { Bucket: string; Key: string }

async function getBytes(client: S3Client, place: Place & { Range?: string }, signal?: AbortSignal) {
  const { Body } = await client.send(new GetObjectCommand(place), signal === undefined ? {} : { abortSignal: signal })
  return Body === undefined ? new Uint8Array() : Body.transformToByteArray()
}

async function statObject(client: S3Client, ref: Place): Promise<ListedObject | undefined> {
  try {
    const { LastModified, ContentLength = 0 } = await client.send(new HeadObjectCommand(ref))
    if (LastModified === undefined) throw new AppError('STORE_002', `object store: ${ref.Key} has no modification time`)
    return { key: ref.Key, lastModified: LastModified.getTime(), bytes: ContentLength }
  } catch (error) {
    if (isMissing(error)) return undefined
    throw s3Error(error, ref.Key)
  }
}

async function* streamObject(client: S3Client, ref: Place, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    const { Body } = await client.send(new GetObjectCommand(ref), signal === undefined ? {} : { abortSignal: signal })
    if (!(Body instanceof Readable)) return
    if (signal !== undefined) addAbortSignal(signal, Body)
    for await (const chunk of Body) yield chunk
  } catch (error) {
    throw s3Error(error, ref.Key, signal)
  }
}

const keysPerDelete = 1_000

/** Pages by the last key seen (ListObjects v1): the embedded server cannot make v2's token on a current OpenSSL. */
async function* listObjects(client: S3Client, place: { Bucket: string; Prefix: string }, signal?: AbortSignal) {
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

async function deleteObjects(client: S3Client, Bucket: string, keys: readonly string[], signal?: AbortSignal) {
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
