import { createHash, randomUUID } from 'node:crypto'
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import S3Object from '@20minutes/s3rver/lib/models/object.js'
import type { Content, FilesystemStore, ObjectMetadata, ReadRange, StoredObject } from '@20minutes/s3rver'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'

/**
 * Mends the server's file store. It writes objects and metadata in place, so that a reader or a crash finds half of them and the
 * bucket cannot be listed: here new files are renamed. Its delete removes folders into which another request has just put
 * something: here folders stay. A full disk gets the status that says so; copies are refused, since the server's own lack the
 * MD5.
 */
export function hardenStore(store: FilesystemStore): void {
  store.putContent = (path, content) => writeThenRename(path, content).catch(sayFull)
  store.putObject = (object) => putObject(store, object).catch(sayFull)
  store.getMetadata = async (...place) => readMetadata(store, ...place) ?? mendMetadata(store, ...place)
  store.copyObject = async () => {
    throw Object.assign(new Error('This server copies no objects.'), { status: 501 })
  }
  store.getSubresource = async () => null
  store.deleteObject = async (...place) => {
    const parts = [store.getResourcePath(...place, 'object'), ...besideObject(store, ...place)]
    await Promise.all(parts.map((part) => rm(part, { force: true })))
  }
}

function besideObject(store: FilesystemStore, bucket: string, key: string): [metadata: string, md5: string] {
  return [store.getResourcePath(bucket, key, 'metadata.json'), store.getResourcePath(bucket, key, 'object.md5')]
}

function sayFull(error: unknown): never {
  const isFull = error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  throw isFull ? Object.assign(error, { status: 507 }) : error
}

async function writeThenRename(path: string, content: Content): Promise<[number, string]> {
  const aside = `${path}.${randomUUID()}.part`
  try {
    const stored = await writeLarge(aside, content)
    await rename(aside, path)
    return stored
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
}

async function writeLarge(path: string, content: Content): Promise<[number, string]> {
  if (content instanceof Uint8Array) {
    await writeFile(path, content)
    return [content.length, createHash('md5').update(content).digest('hex')]
  }
  const md5 = createHash('md5')
  let bytes = 0
  const chunks = content
  async function* measured() {
    for await (const chunk of chunks) {
      md5.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  await pipeline(measured, createWriteStream(path))
  return [bytes, md5.digest('hex')]
}

/** Up to this size, doing it on this thread is as fast as handing it over. */
const smallBytes = 2 ** 18

async function putObject(store: FilesystemStore, object: StoredObject): Promise<{ size: number; md5: string }> {
  const { bucket, key, metadata, content } = object
  const path = store.getResourcePath(bucket, key, 'object')
  const aside = `${path}.${randomUUID()}.part`
  const metadataAside = `${aside}.json`
  try {
    mkdirSync(dirname(path), { recursive: true })
    const [size, md5] =
      object.size <= smallBytes ? writeSmall(aside, await bytesOf(content)) : await writeLarge(aside, content)
    writeFileSync(metadataAside, JSON.stringify({ ...metadata, md5 }))
    // Nothing is written any more, so a full disk leaves the object before as it was. Killed from here on, this process leaves an object
    // without metadata, never with that of another one; the server's only thread answers nobody in between.
    const beside = besideObject(store, bucket, key)
    for (const file of beside) if (statSync(file, { throwIfNoEntry: false })) rmSync(file)
    renameSync(aside, path)
    renameSync(metadataAside, beside[0])
    return { size, md5 }
  } catch (error) {
    for (const file of [aside, metadataAside]) rmSync(file, { force: true })
    throw error
  }
}

function writeSmall(path: string, bytes: Uint8Array): [number, string] {
  writeFileSync(path, bytes)
  return [bytes.length, createHash('md5').update(bytes).digest('hex')]
}

async function bytesOf(content: Content): Promise<Uint8Array> {
  return content instanceof Uint8Array ? content : Buffer.concat(await Array.fromAsync(content))
}

const Kept = z.looseObject({ md5: z.string().optional() })

function readMetadata(store: FilesystemStore, bucket: string, key: string): ObjectMetadata | undefined {
  const file = statSync(store.getResourcePath(bucket, key, 'object'), { throwIfNoEntry: false })
  if (file === undefined) return undefined
  const [metadataFile, md5File] = besideObject(store, bucket, key)
  const { data } = Kept.safeParse(parseJson(readIfThere(metadataFile) ?? ''))
  if (data === undefined) return undefined
  const { md5 = readIfThere(md5File) ?? '', ...headers } = data
  return md5 === '' ? undefined : withIntrinsic(headers, md5, file)
}

function readIfThere(path: string): string | undefined {
  return statSync(path, { throwIfNoEntry: false }) && readFileSync(path, 'utf8')
}

function withIntrinsic(headers: object, md5: string, { mtime, size }: { mtime: Date; size: number }): ObjectMetadata {
  return { ...headers, etag: `"${md5}"`, 'last-modified': mtime.toUTCString(), 'content-length': size }
}

/** Makes an object's lost metadata anew, and stores none: a read must work on a full disk. ENOENT when there is no object. */
async function mendMetadata(store: FilesystemStore, bucket: string, key: string): Promise<ObjectMetadata> {
  const path = store.getResourcePath(bucket, key, 'object')
  const file = await stat(path)
  const md5 = createHash('md5')
  for await (const chunk of createReadStream(path)) md5.update(chunk)
  return withIntrinsic({}, md5.digest('hex'), file)
}

/** Reads small objects on the server's only thread: going to another one a dozen times is half of what a GET costs. */
export function keepSmallObjects(store: FilesystemStore): void {
  const getObject = store.getObject.bind(store)
  const getBucket = store.getBucket.bind(store)
  const buckets = new Map<string, object>()
  store.getBucket = async (name) => {
    const bucket = buckets.get(name) ?? (await getBucket(name))
    if (bucket !== null) buckets.set(name, bucket)
    return bucket
  }
  store.getObject = async (...asked) => readSmall(store, ...asked) ?? getObject(...asked)
}

function readSmall(store: FilesystemStore, bucket: string, key: string, range: ReadRange): StoredObject | undefined {
  if (range.start !== undefined) return undefined
  const metadata = readMetadata(store, bucket, key)
  if (metadata === undefined || metadata['content-length'] > smallBytes) return undefined
  const bytes = readFileSync(store.getResourcePath(bucket, key, 'object'))
  // The server destroys what it does not send: the content of a HEAD.
  return new S3Object(bucket, key, Object.assign(bytes, { destroy() {} }), metadata)
}
