import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openBlobStore } from '#store/objects/blob-store.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { type ObjectStore, putHashedJson } from '#store/objects/object-store.ts'
import { readSnapshot } from '#store/objects/snapshot.ts'
import { silentLog } from '#platform/log.ts'
import { deletionRound, type DeleteDeps } from './delete-runs.ts'
import { housekeepingRound } from './run-housekeeping.ts'
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
beforeEach(async () => {
  stores = await openTestStores()
})
afterEach(() => stores.close())

const never = new AbortController().signal
const day = 86_400_000

function deps(over: Partial<DeleteDeps> = {}): DeleteDeps {
  const { ledger, retention, objects } = stores
  return { ledger, retention, objects, graceMs: day, log: silentLog, ...over }
}

const round = async (over: Partial<DeleteDeps> = {}) =>
  (await deletionRound(deps(over), never)).map(({ runId }) => runId)
const isThere = (key: string) => stores.objects.exists(key)
const blobKey = (hash: string) => objectKeys.blob(stores.project, hash)

/** What a ledger keeps that has deleted runs: nothing that says anything about one. */
const bookkeeping = /:(?:collection:epoch|collection:ledger|projects)$|:results\}:published$/

/** The keys of both stores, and those of Redis whose values name the run. */
async function listed(runId = 'no run'): Promise<{ objects: string[]; redis: string[]; naming: string[] }> {
  const values = [...(await stores.redisValues())]
  return {
    objects: (await stores.keys()).toSorted(),
    redis: values.flatMap(([key]) => (bookkeeping.test(key) ? [] : [key])).toSorted(),
    naming: values.filter(([key, text]) => `${key} ${text}`.includes(runId)).map(([key]) => key),
  }
}

/** A file of the run's snapshot. */
async function blobOf(run: StoredRun, path = 'a.py'): Promise<string> {
  const { hash } = (await readSnapshot(stores.objects, run.projectId, run.snapshotId)).find(path) ?? {}
  return hash ?? ''
}

describe('a deleted run', () => {
  it('leaves nothing in either store, though all of it is young', async () => {
    await stores.ledger.relayResults((await storeRun(stores, { 'b.py': 'b = 1\n' })).runId)
    const before = await listed()
    const run = await storeRun(stores, { 'a.py': 'a = 1\n', 'lib/b.py': 'b = 2\n' })
    await stores.ledger.relayResults(run.runId)
    // Of an attempt that was superseded: nothing refers to it.
    const lost = { runId: run.runId, of: 'a lost attempt' }
    await putHashedJson(stores.objects, (hash) => objectKeys.attempt(stores.project, hash), lost)
    const full = await listed(run.runId)
    expect(full.objects.length).toBeGreaterThan(before.objects.length + 10)
    expect(full.naming.length).toBeGreaterThan(10)

    await stores.ledger.requestDeletion(run)
    await expect(stores.ledger.getRun(run.runId)).rejects.toMatchObject({ code: 'RUN_001' })
    expect(await round()).toEqual([])
    const after = await listed(run.runId)
    expect({ ...after, objects: after.objects.filter((key) => key !== 'ledger.json') }).toEqual(before)
  })

  it('goes while another run executes, which loses nothing', async () => {
    const run = await storeRun(stores, { 'a.py': 'x = 1\n' })
    const record = await waitingRun(stores)
    const unsettled = await putHashedJson(stores.objects, (hash) => objectKeys.attempt(stores.project, hash), {
      runId: 'r00000000000000000',
      of: 'an attempt that is just being settled',
    })
    const hash = await blobOf(run)
    await stores.ledger.requestDeletion(run)
    expect(await round()).toEqual([])
    const kept = [record, blobKey(hash), objectKeys.attempt(stores.project, unsettled)]
    expect(await Promise.all(kept.map(isThere))).toEqual([true, true, true])
  })

  it('leaves what it may share with a run that is being taken in until that refers to it', async () => {
    const files = { 'a.py': 'a = 1\n' }
    const run = await storeRun(stores, files)
    const hash = await blobOf(run)
    const taken = await acceptRun(stores, files)
    await stores.ledger.requestDeletion(run)
    expect(await round()).toEqual([run.runId])
    expect([await isThere(run.uploadKey), await isThere(blobKey(hash))]).toEqual([false, true])
    const other = await snapshotRun(taken, stores.ledger, stores.objects)
    expect(await round()).toEqual([run.runId])
    await stores.ledger.move(other.runId, {
      from: [{ status: 'running' }],
      to: { status: 'failed' },
      command: 'end',
      events: [],
    })
    expect(await round()).toEqual([])
    expect(await isThere(blobKey(hash))).toBe(true)
  })

  it('leaves what it may share with a patch that is being composed until that is there', async () => {
    const [run, other] = [await storeRun(stores, { 'a.py': 'a = 1\n' }), await storeRun(stores, { 'b.py': 'b = 1\n' })]
    const hash = await blobOf(run)
    const making = await stores.ledger.beginPatching(other)
    await stores.ledger.requestDeletion(run)
    expect(await round()).toEqual([run.runId])
    expect([await isThere(run.uploadKey), await isThere(blobKey(hash))]).toEqual([false, true])
    await stores.ledger.endPatching(making)
    expect(await round()).toEqual([])
    expect(await isThere(blobKey(hash))).toBe(false)
  })

  it('takes nothing from a run that begins between the look at the others and the delete', async () => {
    const files = { 'a.py': 'a = 1\n' }
    const run = await storeRun(stores, files)
    const hash = await blobOf(run)
    await stores.ledger.requestDeletion(run)
    let begun: Awaited<ReturnType<typeof acceptRun>> | undefined
    const objects: ObjectStore = {
      ...stores.objects,
      async *list(prefix, signal) {
        yield* stores.objects.list(prefix, signal)
        if (prefix === `projects/${stores.project}/`) begun ??= await acceptRun(stores, files)
      },
    }
    expect(await round({ objects })).toEqual([run.runId])
    expect([begun === undefined, await isThere(blobKey(hash))]).toEqual([false, true])
  })

  it('is finished after the grace in a project that never rests, whose collection deletes what is left', async () => {
    const run = await storeRun(stores, { 'a.py': 'a = 1\n' })
    const hash = await blobOf(run)
    await acceptRun(stores, { 'b.py': 'b = 1\n' })
    await stores.ledger.requestDeletion(run)
    expect(await round()).toEqual([run.runId])
    expect(await round({ graceMs: -1 })).toEqual([])
    expect(await isThere(blobKey(hash))).toBe(true)
    await stores.age()
    await housekeepingRound({ ...deps(), ...stores, retentionMs: day }, never)
    expect(await isThere(blobKey(hash))).toBe(false)
  })

  it('is stored again by a process that has put its files a moment ago', async () => {
    const permit = stores.permit()
    const blobs = openBlobStore(stores.objects, { maxCacheBytes: 0, permit })
    const hash = await blobs.put(stores.project, Buffer.from('a = 1\n'))
    const run = await storeRun(stores, { 'a.py': 'a = 1\n' })
    await stores.ledger.requestDeletion(run)
    expect(await round()).toEqual([])
    expect(await isThere(blobKey(hash))).toBe(false)
    await blobs.put(stores.project, Buffer.from('a = 1\n'))
    expect(await isThere(blobKey(hash))).toBe(true)
  })
})

describe('a deletion', () => {
  it('is finished the next time, whatever step it dies at', async () => {
    let died = 0
    for (let last = 1; ; last += 1) {
      const run = await storeRun(stores, { 'a.py': `a = ${last}\n` })
      await stores.ledger.requestDeletion(run)
      const finished = await round(dyingAfter(last)).then(
        () => true,
        () => false,
      )
      expect(await round()).toEqual([])
      expect((await listed(run.runId)).naming).toEqual([])
      expect(await stores.keys()).toEqual(['ledger.json'])
      if (finished) break
      died += 1
    }
    expect(died).toBeGreaterThan(15)
  }, 90_000)

  it('is done once by many processes, and for all runs that are asked for', async () => {
    const runs = [await storeRun(stores, { 'a.py': 'a = 1\n' }), await storeRun(stores, { 'a.py': 'a = 2\n' })]
    for (const run of [...runs, ...runs]) await stores.ledger.requestDeletion(run)
    await Promise.all([round(), round(), round()])
    expect(await round()).toEqual([])
    expect(await stores.keys()).toEqual(['ledger.json'])
  })
})

/** The same stores, whose process dies instead of making its call number `last`. */
function dyingAfter(last: number): Pick<DeleteDeps, 'objects' | 'retention'> {
  let made = 0
  const dying = <T extends object>(store: T): T =>
    new Proxy(store, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name, target)
        if (typeof value !== 'function') return value
        return (...args: unknown[]): unknown => {
          made += 1
          if (made > last) throw new TypeError('the process died here')
          return Reflect.apply(value, target, args)
        }
      },
    })
  return { objects: dying(stores.objects), retention: dying(stores.retention) }
}
