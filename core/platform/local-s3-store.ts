import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import S3Object from '@20minutes/s3rver/lib/models/object.js'
import type { Content, FilesystemStore, ObjectMetadata, ReadRange, StoredObject } from '@20minutes/s3rver'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'

/**
 * Fixes two races of the server's file store. It truncates an object's file in place, so that a reader, or a crash, can
 * find half of it: here a new file is renamed. And a delete removes empty folders together with files that another
 * request has just put there: here folders stay. It also looks for CORS and website rules, which nobody sets here.
 * A full disk is answered with the status that says so.
 */
export function hardenStore(store: FilesystemStore): void {
  const putMetadata = store.putMetadata.bind(store)
  store.putContent = (path, content) => writeThenRename(path, content).catch(sayFull)
  store.putMetadata = (...given) => putMetadata(...given).catch(sayFull)
  store.getSubresource = async () => null
  store.deleteObject = async (inBucket, key) => {
    const parts = ['object', 'object.md5', 'metadata.json'].map((part) => store.getResourcePath(inBucket, key, part))
    await Promise.all(parts.map((part) => rm(part, { force: true })))
  }
}

/** The server answers an error with its `status`. */
function sayFull(error: unknown): never {
  const isFull = error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
  throw isFull ? Object.assign(error, { status: 507 }) : error
}

async function writeThenRename(path: string, content: Content): Promise<[number, string]> {
  const aside = `${path}.${randomUUID()}.part`
  try {
    const stored = content instanceof Uint8Array ? await writeBytes(aside, content) : await writeStream(aside, content)
    await rename(aside, path)
    return stored
  } catch (error) {
    await rm(aside, { force: true })
    throw error
  }
}

async function writeBytes(path: string, content: Uint8Array): Promise<[number, string]> {
  await writeFile(path, content)
  return [content.length, createHash('md5').update(content).digest('hex')]
}

async function writeStream(path: string, content: AsyncIterable<Uint8Array>): Promise<[number, string]> {
  const md5 = createHash('md5')
  let bytes = 0
  async function* measured() {
    for await (const chunk of content) {
      md5.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  await pipeline(measured, createWriteStream(path))
  return [bytes, md5.digest('hex')]
}

/** Reading or writing so much takes no longer than handing it to another thread does. */
const smallBytes = 2 ** 18

/** What is kept beside a small object: its headers, and the MD5, which the server's own code writes to a file of its own. */
const Kept = z.looseObject({ md5: z.string() })

/**
 * Reads and writes small objects at once, on the server's only thread. By itself it goes to another thread and back about a dozen times
 * for each request, which is half of what a GET costs. The MD5 is kept with the metadata instead of in a file of its own; what
 * an earlier version wrote is read by the server's own code. The bucket is there as long as the server.
 */
export function keepSmallObjects(store: FilesystemStore): void {
  const getObject = store.getObject.bind(store)
  const putObject = store.putObject.bind(store)
  const getBucket = store.getBucket.bind(store)
  const buckets = new Map<string, object>()
  store.getBucket = async (name) => {
    const bucket = buckets.get(name) ?? (await getBucket(name))
    if (bucket !== null) buckets.set(name, bucket)
    return bucket
  }
  const getMetadata = store.getMetadata.bind(store)
  store.getMetadata = async (...place) => readMetadata(store, ...place) ?? getMetadata(...place)
  store.getObject = async (...asked) => readSmall(store, ...asked) ?? getObject(...asked)
  store.putObject = async (object) =>
    object.size <= smallBytes ? writeSmall(store, object, await bytesOf(object.content)) : putObject(object)
}

/** Undefined: the server's own code is to answer. */
function readMetadata(store: FilesystemStore, bucket: string, key: string): ObjectMetadata | undefined {
  const file = statSync(store.getResourcePath(bucket, key, 'object'), { throwIfNoEntry: false })
  const kept = file && readIfThere(store.getResourcePath(bucket, key, 'metadata.json'))
  const { data } = Kept.safeParse(parseJson(kept?.toString() ?? ''))
  if (file === undefined || data === undefined) return undefined
  const { md5, ...headers } = data
  return { ...headers, etag: `"${md5}"`, 'last-modified': file.mtime.toUTCString(), 'content-length': file.size }
}

function readIfThere(path: string): Buffer | undefined {
  return statSync(path, { throwIfNoEntry: false }) && readFileSync(path)
}

function readSmall(store: FilesystemStore, bucket: string, key: string, range: ReadRange): StoredObject | undefined {
  if (range.start !== undefined) return undefined
  const metadata = readMetadata(store, bucket, key)
  if (metadata === undefined || metadata['content-length'] > smallBytes) return undefined
  const bytes = readFileSync(store.getResourcePath(bucket, key, 'object'))
  // The server destroys what it does not send: the content of a HEAD.
  return new S3Object(bucket, key, Object.assign(bytes, { destroy() {} }), metadata)
}

function writeSmall(store: FilesystemStore, { bucket, key, metadata }: StoredObject, bytes: Uint8Array) {
  const path = store.getResourcePath(bucket, key, 'object')
  const aside = `${path}.${randomUUID()}.part`
  const md5 = createHash('md5').update(bytes).digest('hex')
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(aside, bytes)
    renameSync(aside, path)
    writeFileSync(store.getResourcePath(bucket, key, 'metadata.json'), JSON.stringify({ ...metadata, md5 }))
  } catch (error) {
    rmSync(aside, { force: true })
    sayFull(error)
  }
  return { size: bytes.length, md5 }
}

async function bytesOf(content: Content): Promise<Uint8Array> {
  return content instanceof Uint8Array ? content : Buffer.concat(await Array.fromAsync(content))
}
