import { silentLog } from '#platform/log.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import type { ObjectStore } from '#store/objects/object-store.ts'
import { readSnapshot } from '#store/objects/snapshot.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { collectObjects, type CollectDeps } from './collect-objects.ts'
import {
  acceptRun,
  openTestStores,
  snapshotRun,
  storeRun,
  type StoredRun,
  type TestStores,
  waitingRun,
} from './stored-run.fixture.ts'

let stores: TestStores
let warnings: unknown[]
beforeEach(async () => {
  stores = await openTestStores()
  warnings = []
})
afterEach(() => stores.close())

const never = new AbortController().signal
const dayMs = 86_400_000

function deps(over: Partial<CollectDeps> = {}): CollectDeps {
  const log = { ...silentLog, warn: (_message: string, fields?: object) => void warnings.push(fields) }
  return { ledger: stores.ledger, retention: stores.retention, objects: stores.objects, graceMs: dayMs, log, ...over }
}

const collect = (over: Partial<CollectDeps> = {}) => collectObjects(deps(over), never)

const shared = { 'README.md': '# Shared\n', 'src/a.py': 'a = 1\n' }

/** That every file of the run's snapshot is there with its own content. */
async function expectWhole(run: { projectId: string; snapshotId: string }): Promise<void> {
  const { files } = await readSnapshot(stores.objects, run.projectId, run.snapshotId)
  for (const { hash } of files) {
    expect(sha256(await stores.objects.get(objectKeys.blob(run.projectId, hash)))).toBe(hash)
  }
}

describe('collectObjects', () => {
  it('deletes what only a forgotten run referred to, of every kind, and nothing of the retained ones', async () => {
    const kept = await storeRun(stores, { ...shared, 'kept.py': 'k = 1\n' })
    await collect()
    const before = await stores.keys()
    const gone = await storeRun(stores, { ...shared, 'src/deep/gone.py': 'g = 1\n' })
    const ofGone = (await stores.keys()).filter((key) => !before.includes(key))
    const kinds = new Set(ofGone.map((key) => (key.startsWith('runs/') ? key.split('/')[2] : key.split('/')[0])))
    const all = 'attempts blobs bundles compositions edges events node-index nodes parts snapshots trees uploads'
    expect(kinds).toEqual(new Set(all.split(' ')))
    await stores.age()
    expect(await collect()).toMatchObject({ deleted: 0, young: 0 })

    await stores.retention.forgetRun(gone)
    expect(await collect()).toMatchObject({ deleted: ofGone.length, kept: before.length, young: 0, unknown: 0 })
    expect(await stores.keys()).toEqual(before)
    await expectWhole(kept)
    expect(warnings).toEqual([])
  })

  it('leaves what is young, and what is of no kind of ours', async () => {
    const run = await storeRun(stores, shared)
    await stores.retention.forgetRun(run)
    await stores.objects.put(`projects/${run.projectId}/notes.txt`, 'an operator wrote this')
    const before = await stores.keys()
    expect(await collect()).toMatchObject({ deleted: 0, unknown: 1, young: before.length - 1 })
    await stores.age()
    expect(await collect()).toMatchObject({ deleted: before.length - 1, unknown: 1 })
    expect(await stores.keys()).toEqual(['ledger.json', 'notes.txt'])
  })

  it('keeps the upload of a run that is just being accepted', async () => {
    await stores.retention.forgetRun(await storeRun(stores, shared))
    const accepted = await acceptRun(stores, shared)
    const unused = objectKeys.upload(accepted.projectId, aNewRun().runId)
    await stores.objects.put(unused, 'its request broke off')
    await stores.age()
    await collect()
    expect(await stores.objects.exists(accepted.uploadKey)).toBe(true)
    expect(await stores.objects.exists(unused)).toBe(false)
  })

  it('keeps what an operation that waits for a person goes on from', async () => {
    const key = await waitingRun(stores)
    await stores.age()
    await collect()
    expect(await stores.objects.exists(key)).toBe(true)
  })

  it('follows the folders of a snapshot that holds the bytes of a folder object as a file', async () => {
    const inner = await storeRun(stores, { 'sub/x.py': 'x = 1\n' })
    const { files } = await readSnapshot(stores.objects, inner.projectId, inner.snapshotId)
    const trees = (await stores.keys()).filter((key) => key.startsWith('trees/'))
    const bodies = await Promise.all(
      trees.map(async (key) => Buffer.from(await stores.objects.get(`projects/${inner.projectId}/${key}`)).toString()),
    )
    await stores.retention.forgetRun(inner)
    const copies = Object.fromEntries(bodies.map((body, at) => [`copy${at}.json`, body]))
    const outer = await storeRun(stores, { ...copies, 'sub/x.py': 'x = 1\n' })
    await stores.age()
    await collect()
    expect(files).toHaveLength(1)
    await expectWhole(outer)
  })

  it('deletes nothing of a project when one reference of one run cannot be followed', async () => {
    const [broken, gone] = [await storeRun(stores, { 'b.py': 'b = 1\n' }), await storeRun(stores, shared)]
    await collect()
    await stores.retention.forgetRun(gone)
    await stores.age()
    const { snapshotId, projectId } = broken
    const [file] = (await stores.keys()).filter((key) => key === `snapshots/${snapshotId}.json`)
    await stores.objects.delete(`projects/${projectId}/${file}`)
    const before = await stores.keys()
    expect(await collect()).toMatchObject({ deleted: 0 })
    expect(await stores.keys()).toEqual(before)
    expect(warnings).toMatchObject([{ project_id: projectId, error: { code: 'STORE_003' } }])
  })

  it('deletes nothing when the ledger is not the one the objects were collected with', async () => {
    const run = await storeRun(stores, shared)
    await collect()
    await stores.retention.forgetRun(run)
    await stores.age()
    const before = await stores.keys()
    const lost = { ...stores.retention, ledgerId: async () => 'a Redis that came back empty' }
    expect(await collect({ retention: lost })).toMatchObject({ deleted: 0 })
    expect(await stores.keys()).toEqual(before)
    expect(warnings).toMatchObject([{ error: { code: 'CONFIG_003' } }])
  })
})

describe('a run that stores again what is just being collected', () => {
  /** Stores at whose first call `name` another process starts to take a run's snapshot. */
  function racing(name: 'stat' | 'deleteMany', start: () => void): ObjectStore {
    let started = false
    const once = (called: typeof name) => {
      if (called !== name || started) return
      started = true
      start()
    }
    const { objects } = stores
    return {
      ...objects,
      stat: (key) => (once('stat'), objects.stat(key)),
      deleteMany: (keys, signal) => (once('deleteMany'), objects.deleteMany(keys, signal)),
    }
  }

  it.for(['stat', 'deleteMany'] as const)('loses nothing when it begins at a %s', async (name) => {
    const gone = await storeRun(stores, shared)
    await stores.retention.forgetRun(gone)
    await stores.age()
    const accepted = await acceptRun(stores, shared)
    let racer: ReturnType<typeof snapshotRun> | undefined
    const objects = racing(name, () => {
      racer = snapshotRun(accepted, stores.ledger, stores.otherProcess())
    })
    const { deleted } = await collect({ objects })
    if (racer === undefined) throw new Error('it did not begin')
    const run = await racer
    expect(run.snapshotId).toBe(gone.snapshotId)
    await expectWhole(run)
    expect(deleted).toBeGreaterThan(0)
  })

  it('loses nothing when it comes between the listing and the deletes', async () => {
    const gone = await storeRun(stores, shared)
    await stores.retention.forgetRun(gone)
    await stores.age()
    const accepted = await acceptRun(stores, shared)
    const runs: StoredRun[] = []
    const objects: ObjectStore = {
      ...stores.objects,
      async *list(prefix, signal) {
        yield* stores.objects.list(prefix, signal)
        runs.push(await snapshotRun(accepted, stores.ledger, stores.otherProcess()))
      },
    }
    expect(await collect({ objects })).toMatchObject({ deleted: expect.toSatisfy((count: number) => count > 0) })
    for (const run of runs) await expectWhole(run)
    expect(runs).toHaveLength(1)
  })

  it('loses nothing when its put is done after the look at the age and before the delete', async () => {
    const gone = await storeRun(stores, shared)
    await stores.retention.forgetRun(gone)
    await stores.age()
    const key = objectKeys.snapshot(gone.projectId, gone.snapshotId)
    const bytes = await stores.objects.get(key)
    const writer = stores.otherProcess()
    let put: Promise<void> | undefined
    const { objects } = stores
    const held: ObjectStore = {
      ...objects,
      async deleteMany(keys, signal) {
        put ??= writer.put(key, bytes)
        // As long as a put takes that does not wait for the window.
        await objects.put(`projects/${gone.projectId}/notes.txt`, 'x')
        await objects.deleteMany(keys, signal)
      },
    }
    await collect({ objects: held })
    await put
    expect(await stores.objects.exists(key)).toBe(true)
  })
})
