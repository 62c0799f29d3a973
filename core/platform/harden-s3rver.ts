import { createHash, randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm, writeFile } from 'node:fs/promises'
import { pipeline } from 'node:stream/promises'
import type { Content, FilesystemStore } from '@20minutes/s3rver'

/**
 * Mends two races of the embedded server's file store. It truncates an object's file in place, so that a reader, or a
 * crash, can meet half of it: here the file is written aside and renamed. And after a delete it removes empty folders
 * with whatever another request has just put there: here folders stay. It also looks for two files with CORS and website
 * rules for every request; nobody sets any here.
 */
export function hardenS3rver(store: FilesystemStore): void {
  store.putContent = writeThenRename
  store.getSubresource = async () => null
  store.deleteObject = async (bucket, key) => {
    const parts = ['object', 'object.md5', 'metadata.json'].map((part) => store.getResourcePath(bucket, key, part))
    await Promise.all(parts.map((part) => rm(part, { force: true })))
  }
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
