import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSigner } from '#store/objects/direct-requests.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { lacksRoom } from '#store/objects/s3-fault.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { startLocalS3 } from './local-s3.ts'

const run = promisify(execFile)
let dir: string
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-local-s3-store-'))
})
afterAll(() => rm(dir, { recursive: true, force: true }))

type Served = {
  store: ObjectStore
  folder: string
  /** Sends what the store does not, since it shows no headers. */
  send(key: string): Promise<Response>
}

async function serving(place: string, use: (served: Served) => Promise<void>): Promise<void> {
  const { endpoint, bucket, region, accessKeyId, secretAccessKey, stop } = await startLocalS3({ dir: place })
  const store = openS3ObjectStore({ endpoint, bucket, region, credentials: { accessKeyId, secretAccessKey } })
  const sign = openSigner({ accessKeyId, secretAccessKey, region })
  const send: Served['send'] = (key) => {
    const { host, pathname, href } = new URL(`/${bucket}/${key}`, endpoint)
    const signed = sign({ method: 'GET', host, path: pathname, body: new Uint8Array(), headers: {} }, new Date())
    return fetch(href, { headers: signed })
  }
  try {
    await use({ store, send, folder: join(place, bucket) })
  } finally {
    store.close()
    await stop()
  }
}

/** What the server says of an object besides its content. */
async function headOf({ send }: Served, key: string) {
  const answer = await send(key)
  await answer.arrayBuffer()
  return ['etag', 'content-type', 'content-length'].map((name) => answer.headers.get(name))
}

const expectedHead = (content: Buffer, contentType: string) => [
  `"${createHash('md5').update(content).digest('hex')}"`,
  contentType,
  `${content.length}`,
]

const sizes = [
  ['small', Buffer.alloc(4_096, 'before')],
  ['large', Buffer.alloc(300 * 1_024, 'before')],
] as const

describe('the store of the embedded S3', () => {
  it.each(sizes)('reads and lists a %s object whose metadata are lost, and replaces it', async (key, content) => {
    const place = join(dir, `lost-${key}`)
    await serving(place, async (served) => {
      const { store, folder } = served
      await store.put(key, content, { contentType: 'text/plain' })
      await store.put('other', 'another')
      expect(await headOf(served, key)).toEqual(expectedHead(content, 'text/plain'))
      const metadata = join(folder, `${key}._S3rver_metadata.json`)
      const md5 = join(folder, `${key}._S3rver_object.md5`)
      for (const left of ['', '{"content-type":"text/pl', undefined]) {
        await rm(metadata)
        if (left !== undefined) await writeFile(metadata, left)
        await writeFile(md5, 'of another object') // as it was when the server's own code wrote it
        expect(Buffer.from(await store.get(key)).equals(content)).toBe(true)
        expect(Buffer.from(await store.getRange(key, { start: 1, end: 7 })).toString()).toBe('eforeb')
        expect((await Array.fromAsync(store.list(''))).map((one) => one.key)).toEqual([key, 'other'].toSorted())
        expect(await headOf(served, key)).toEqual(expectedHead(content, 'binary/octet-stream'))
        const next = Buffer.from(content).fill('after')
        await store.put(key, next, { contentType: 'text/css' })
        expect(await headOf(served, key)).toEqual(expectedHead(next, 'text/css'))
        await store.put(key, content)
      }
      await store.delete(key)
      expect((await readdir(folder)).toSorted()).toEqual(['other._S3rver_metadata.json', 'other._S3rver_object'])
    })
  })

  it.for(sizes)('leaves a %s object as it was when there is no room for another one', async ([key, content], test) => {
    const place = join(dir, `full-${key}`)
    await mkdir(place)
    const size = `size=${2 * content.length + 64 * 1_024}`
    const mounted = await run('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', place]).catch((error: Error) => error)
    if (mounted instanceof Error) return test.skip(`no small disk can be mounted here: ${mounted.message}`)
    try {
      await serving(place, async (served) => {
        const { store, folder } = served
        await store.put(key, content, { contentType: 'text/plain' })
        const files = (await readdir(folder)).toSorted()
        const next = Buffer.from(content).fill('after')
        await fillBut(place, next.length) // so that its metadata do not fit any more
        await expect(store.put(key, next, { contentType: 'text/css' })).rejects.toSatisfy(lacksRoom)
        await expect(store.put('new', next)).rejects.toSatisfy(lacksRoom)
        expect((await readdir(folder)).toSorted()).toEqual(files)
        expect(Buffer.from(await store.get(key)).equals(content)).toBe(true)
        expect(await headOf(served, key)).toEqual(expectedHead(content, 'text/plain'))
        expect(await Array.fromAsync(store.list(''))).toMatchObject([{ key, bytes: content.length }])
        await rm(join(place, 'filler'))
        await store.put(key, next, { contentType: 'text/css' })
        expect(await headOf(served, key)).toEqual(expectedHead(next, 'text/css'))
      })
    } finally {
      await run('umount', [place])
    }
  })
})

/** Fills a small disk until so many bytes are left. */
async function fillBut(place: string, bytes: number): Promise<void> {
  await writeFile(join(place, 'room'), Buffer.alloc(bytes))
  await run('sh', ['-c', 'cat /dev/zero > "$0" 2>&- || true', join(place, 'filler')])
  await rm(join(place, 'room'))
}
