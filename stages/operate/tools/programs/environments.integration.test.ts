import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar, type TarEntry } from 'modern-tar'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ProjectId } from '#domain/ids.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { testObjects } from '#testing/s3.ts'
import { openEnvironments } from './environments.ts'

let store: Awaited<ReturnType<typeof testObjects>>
let dir = ''
beforeAll(async () => {
  store = await testObjects()
  dir = await mkdtemp(join(tmpdir(), 'remora-kept-'))
})
afterAll(async () => {
  await store.close()
  await rm(dir, { recursive: true })
})

const ready = (key: string) =>
  ({ kind: 'ready', command: 'true', key, bytes: 1, isCached: false, durationMs: 1 }) as const

/** The environments of a worker, with how often it has asked the store. */
async function environmentsOf(key: string, entries: readonly TarEntry[]) {
  const project = ProjectId.parse(store.project)
  const put = () =>
    packTar([...entries]).then((tar) => store.objects.put(objectKeys.environment(project, key), gzipSync(tar)))
  let asked = 0
  const getStream: ObjectStore['getStream'] = (...of) => {
    asked += 1
    return store.objects.getStream(...of)
  }
  const open = openEnvironments({ objects: { getStream }, dir: join(dir, key), keptBytes: 1_000_000 })
  return { put, open: () => open(project, ready(key)), asked: () => asked }
}
const file = (name: string): TarEntry => ({ header: { name, size: 1, type: 'file', mode: 0o644 }, body: 'x' })

it('are downloaded once, and their files mounted', async () => {
  const kept = await environmentsOf('good', [file('environment/a')])
  await kept.put()
  const [first] = (await kept.open()).mounts ?? []
  expect(await readFile(join(first?.from ?? '', 'a'), 'utf8')).toBe('x')
  await kept.open()
  expect(kept.asked()).toBe(1)
})

it('that are refused are not downloaded again', async () => {
  const kept = await environmentsOf('bad', [file('elsewhere/a')])
  await kept.put()
  for (let attempt = 0; attempt < 3; attempt++) await expect(kept.open()).rejects.toMatchObject({ code: 'SETUP_001' })
  expect(kept.asked()).toBe(1)
})

it('that are missing are looked for again', async () => {
  const kept = await environmentsOf('late', [file('environment/a')])
  await expect(kept.open()).rejects.toMatchObject({ code: 'SETUP_001' })
  await kept.put()
  expect((await kept.open()).mounts).toHaveLength(2)
})
