import { once } from 'node:events'
import { rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import S3rver from '@20minutes/s3rver'
import account from '@20minutes/s3rver/lib/models/account.js'
import { z } from 'zod'
import type { Content, FilesystemStore } from '@20minutes/s3rver'
import { stopWithParent } from './service-process.ts'

const ownAccessKeyId = 'S3RVER'
const denied =
  '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>'

// Child process of local-s3.ts: serves the folder argv[2] as bucket argv[3] on a free port, and ends with its parent.
const [directory, bucket] = process.argv.slice(2)
if (directory === undefined || bucket === undefined || process.send === undefined) {
  throw new Error('local-s3-main.ts is started by local-s3.ts')
}
stopWithParent(async () => {})

const [message]: unknown[] = await once(process, 'message')
const keys = z.object({ accessKeyId: z.string(), secretAccessKey: z.string() }).parse(message)

// Parts of uploads that never ended: this server knows no AbortMultipartUpload, so they are dropped at the next start.
await rm(join(directory, bucket, '._S3rver_uploads'), { recursive: true, force: true })
const server = new S3rver({
  address: '127.0.0.1',
  port: 0,
  silent: true,
  directory,
  vhostBuckets: false,
  configureBuckets: [{ name: bucket }],
})
hardenStore(server.store)
requireSignature(server, keys)
const { port } = await server.run()
process.send({ port })

/**
 * Fixes two races of the server's file store. It truncates an object's file in place, so that a reader, or a crash, can
 * find half of it: here a new file is renamed. And a delete removes empty folders together with files that another
 * request has just put there: here folders stay. It also looks for CORS and website rules, which nobody sets here.
 * A full disk is answered with the status that says so.
 */
function hardenStore(store: FilesystemStore): void {
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

/**
 * The embedded server checks signatures, but it has an account whose keys are public, and serves requests without a
 * signature. Here only these keys count. A preflight is not signed, and nobody sends one here.
 */
function requireSignature({ middleware }: S3rver, own: { accessKeyId: string; secretAccessKey: string }): void {
  account.DUMMY_ACCOUNT.revokeAccessKey(ownAccessKeyId)
  account.DUMMY_ACCOUNT.createKeyPair(own.accessKeyId, own.secretAccessKey)
  middleware.unshift(async (context, next) => {
    if (context.method !== 'OPTIONS' && context.headers['authorization'] !== undefined) return next()
    context.status = 403
    context.type = 'application/xml'
    context.body = denied
  })
}
