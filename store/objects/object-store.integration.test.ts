import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { makeObjectFolder, openFolderObjectStore } from './folder-object-store.ts'
import { openS3ObjectStore } from './s3-object-store.ts'

const mib = 1024 * 1024

async function testFolder() {
  const dir = await mkdtemp(join(tmpdir(), 'remora-objects-'))
  await makeObjectFolder(dir)
  const close = () => rm(dir, { recursive: true })
  return { dir, objects: openFolderObjectStore(dir), project: 'p1', close }
}

async function* chunks(count: number, bytes: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < count; at += 1) yield new Uint8Array(bytes).fill(at)
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(source))
}

describe.each([
  ['a bucket', testObjects],
  ['a folder', testFolder],
])('the object store in %s', (_place, open) => {
  const test = useOpened<Pick<Awaited<ReturnType<typeof testObjects>>, 'objects' | 'project' | 'close'>>(open)
  const key = (name: string) => `projects/${test.project}/uploads/${name}`

  it('gives back the bytes it was given, text and empty objects included', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_value, at) => at % 251)
    await test.objects.put(key('bytes'), bytes)
    await test.objects.put(key('text'), '{"a":"é"}', { contentType: 'application/json' })
    await test.objects.put(key('empty'), '')
    expect(Buffer.from(await test.objects.get(key('bytes'))).equals(bytes)).toBe(true)
    expect(Buffer.from(await test.objects.get(key('text'))).toString()).toBe('{"a":"é"}')
    expect(await test.objects.get(key('empty'))).toHaveLength(0)
  })

  it('answers STORE_003 for an object that is not there, whether read whole or as a stream', async () => {
    await expect(test.objects.get(key('none'))).rejects.toMatchObject({ code: 'STORE_003' })
    await expect(collect(test.objects.getStream(key('none')))).rejects.toMatchObject({ code: 'STORE_003' })
  })

  it('gives back a range of an object, and says so when there are fewer bytes', async () => {
    await test.objects.put(
      key('ranged'),
      Uint8Array.from({ length: 1000 }, (_value, at) => at % 251),
    )
    expect([...(await test.objects.getRange(key('ranged'), { start: 998, end: 1000 }))]).toEqual([998 % 251, 999 % 251])
    expect(await test.objects.getRange(key('ranged'), { start: 0, end: 1000 })).toHaveLength(1000)
    const beyond = test.objects.getRange(key('ranged'), { start: 999, end: 1001 })
    await expect(beyond).rejects.toMatchObject({ code: 'STORE_002' })
    const missing = test.objects.getRange(key('none'), { start: 0, end: 1 })
    await expect(missing).rejects.toMatchObject({ code: 'STORE_003' })
  })

  it('knows what exists, and deletes twice without complaint', async () => {
    await test.objects.put(key('gone'), 'x')
    expect(await test.objects.exists(key('gone'))).toBe(true)
    await test.objects.delete(key('gone'))
    await test.objects.delete(key('gone'))
    await test.objects.delete(key('no/such/folder'))
    expect(await test.objects.exists(key('gone'))).toBe(false)
  })

  it.each([
    ['nothing', 0, 0],
    ['less than a part', 3, 1000],
    ['exactly one part', 8, mib],
    ['several parts', 21, mib],
  ])('stores a stream of %s', async (name, count, bytes) => {
    const stored = await test.objects.putStream(key(name), chunks(count, bytes), {
      maxBytes: 100 * mib,
      contentType: 'application/x-tar',
    })
    expect(stored.bytes).toBe(count * bytes)
    const back = await collect(test.objects.getStream(key(name)))
    expect(back.equals(await collect(chunks(count, bytes)))).toBe(true)
  })

  it.each([
    ['before the first part is full', 3, 1000, 2999],
    ['after several parts were sent', 30, mib, 25 * mib],
  ])('refuses a stream over the limit %s, and keeps nothing', async (name, count, bytes, maxBytes) => {
    const request = test.objects.putStream(key(name), chunks(count, bytes), { maxBytes, contentType: 'text/plain' })
    await expect(request).rejects.toMatchObject({ code: 'INTAKE_003' })
    expect(await test.objects.exists(key(name))).toBe(false)
  })

  it('keeps nothing of a stream whose sender breaks off', async () => {
    async function* broken() {
      yield* chunks(20, mib)
      throw new Error('connection lost')
    }
    const request = test.objects.putStream(key('broken'), broken(), { maxBytes: 100 * mib, contentType: 'text/plain' })
    await expect(request).rejects.toMatchObject({ code: 'INTAKE_001' })
    expect(await test.objects.exists(key('broken'))).toBe(false)
  })

  it('stops a stream when its signal is aborted, with the reason of the abort', async () => {
    await test.objects.put(key('long'), new Uint8Array(20 * mib))
    const abort = new AbortController()
    let seen = 0
    const reading = (async () => {
      for await (const chunk of test.objects.getStream(key('long'), abort.signal)) {
        seen += chunk.length
        abort.abort(new AppError('AGENT_010', 'cancelled'))
      }
    })()
    await expect(reading).rejects.toMatchObject({ code: 'AGENT_010' })
    expect(seen).toBeLessThan(20 * mib)
  })

  it('lets a reader leave a stream early and goes on working', async () => {
    await test.objects.put(key('left'), new Uint8Array(5 * mib))
    for (let round = 0; round < 80; round += 1) {
      for await (const chunk of test.objects.getStream(key('left'))) {
        expect(chunk.length).toBeGreaterThan(0)
        break
      }
    }
    expect(await test.objects.exists(key('left'))).toBe(true)
  })

  it('lists by prefix in the order of keys, with sizes and times, and deletes many at once', async () => {
    const names = ['list/b', 'list/a/2', 'list/c', 'list/a/1', 'list-not']
    for (const name of names) await test.objects.put(key(name), name)
    const listed = await Array.fromAsync(test.objects.list(key('list/')))
    expect(listed.map((one) => one.key)).toEqual(['list/a/1', 'list/a/2', 'list/b', 'list/c'].map(key))
    expect(listed.map(({ bytes }) => bytes)).toEqual([8, 8, 6, 6])
    expect(listed[0]).toEqual(await test.objects.stat(key('list/a/1')))
    expect(Math.abs(Date.now() - (listed[0]?.lastModified ?? 0))).toBeLessThan(60_000)
    expect(await Array.fromAsync(test.objects.list(key('list/a')))).toHaveLength(2)
    await test.objects.deleteMany([...names, 'list/none'].map(key))
    expect(await Array.fromAsync(test.objects.list(key('list')))).toEqual([])
  })
})

describe('the object store', () => {
  it('answers STORE_002, with the cause, when nothing listens', async () => {
    const nobody = openS3ObjectStore({
      endpoint: 'http://127.0.0.1:9',
      bucket: 'remora',
      region: 'us-east-1',
      credentials: { accessKeyId: 'a', secretAccessKey: 'b' },
    })
    const error: unknown = await nobody.ping().catch((caught: unknown) => caught)
    nobody.close()
    expect(error).toMatchObject({ code: 'STORE_002', retry: true, cause: expect.any(Error) })
  })

  it('leaves the folder without what a put that broke off has begun, and says STORE_002 when the folder is gone', async () => {
    const { dir, objects, close } = await testFolder()
    async function* broken() {
      yield Buffer.from('half')
      throw new Error('connection lost')
    }
    await expect(objects.putStream('a/b', broken(), { maxBytes: mib, contentType: 'text/plain' })).rejects.toThrow(
      'connection lost',
    )
    expect(await readdir(join(dir, '.parts'))).toEqual([])
    await objects.ping()
    await expect(objects.get('../b')).rejects.toMatchObject({ code: 'STORE_003' })
    await close()
    await expect(objects.ping()).rejects.toMatchObject({ code: 'STORE_002' })
  })
})
