import { inspect } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStages, type TestStages } from './open-stages.fixture.ts'
import { runDiscoveryStage } from './discovery-stage.ts'
import { runSnapshotStage } from './snapshot-stage.ts'
import {
  commitOf,
  hostArchive,
  openTestHost,
  saying,
  type TestHost,
  token,
} from '#stages/snapshot/fetch/code-host.fixture.ts'

let host: TestHost
let stages: TestStages
let now = 0
beforeEach(async () => {
  now = 0
  host = await openTestHost()
  stages = await openStages({ publisher: host.publisher, limits: { idleMs: 300, totalMs: 5_000 }, now: () => now })
})
afterEach(async () => {
  await stages.close()
  await host.close()
})

const head = commitOf('a')
const snapshot = (runId: string) => runSnapshotStage(runId, stages.snapshots, stages.signal)
const runOf = (runId: string) => stages.stores.ledger.getRun(runId)
const eventsOf = (runId: string) => stages.stores.ledger.readEvents(runId, { after: 0, limit: 100 })

async function filesOf(runId: string): Promise<string[]> {
  const { projectId, snapshotId } = await runOf(runId)
  const { files } = await stages.deps.readSnapshot(projectId, snapshotId ?? '')
  return files.map(({ path }) => path)
}

describe('a run whose code a code host has', () => {
  it('gets the snapshot of the commit, without the top folder, and says which commit it is', async () => {
    host.put(head, await hostArchive({ 'src/a.py': 'x = 1\n', 'README.md': '# Shop\n' }))
    const runId = await stages.toFetch()
    expect(await snapshot(runId)).toBe('ok')
    expect(await filesOf(runId)).toEqual(['README.md', 'src/a.py'])
    expect(await runOf(runId)).toMatchObject({ phase: 'discovery', commit: head, baseSnapshotId: null })
    const stored = (await eventsOf(runId)).find(({ event }) => event === 'snapshot.stored')
    expect(stored?.data).toMatchObject({ repository: 'acme/shop', commit: head, files: 2, skipped: 0 })
    expect(stored?.data).not.toHaveProperty('base_commit')
    expect((await stages.stores.ledger.verify(runId)).violations).toEqual([])
  })

  it('leaves its token nowhere, and shows it to the first server only', async () => {
    host.put(head, await hostArchive({ 'a.py': 'x = 1\n' }))
    const runId = await stages.toFetch()
    await snapshot(runId)
    expect(host.seen.map(({ server }) => server)).toEqual(['api', 'archives'])
    expect(host.seen[0]?.headers.authorization).toBe(`Bearer ${token}`)
    expect(host.seen[1]?.headers).not.toHaveProperty('authorization')
    const { objects, project, keys } = stages.stores
    for (const key of await keys()) {
      expect(Buffer.from(await objects.get(`projects/${project}/${key}`)).includes(token)).toBe(false)
    }
    for (const [key, value] of await stages.stores.redisValues()) expect(`${key} ${value}`).not.toContain(token)
    host.answers.archives = saying(500)
    const error = await snapshot(await stages.toFetch()).catch((fault: unknown) => fault)
    expect(error).toMatchObject({ code: 'HOST_001' })
    expect(inspect(error, { depth: 9 })).not.toContain(token)
  })

  it('has the same commit when its job comes again after the branch has moved', async () => {
    host.put(head, await hostArchive({ 'a.py': 'x = 1\n' }))
    host.answers.archives = saying(503)
    const runId = await stages.toFetch()
    await expect(snapshot(runId)).rejects.toMatchObject({ code: 'HOST_001' })
    host.answers.branch = commitOf('b')
    delete host.answers.archives
    expect(await snapshot(runId)).toBe('idle') // the host is not asked at once again
    now += 2_000
    expect(await snapshot(runId)).toBe('ok')
    expect(host.asked.map(({ commit }) => commit)).toEqual([undefined, head])
    expect(await runOf(runId)).toMatchObject({ commit: head })
    expect(await snapshot(runId)).toBe('ok')
    expect(host.asked).toHaveLength(2)
  })

  it('names submodules, pointers of LFS, and what git has filled in, as skipped', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 5\n'
    const gitmodules = '[submodule "x"]\n\tpath = libs/x\n\turl = ../x\n[submodule "gone"]\n\tpath = gone\n'
    const files = {
      '.gitmodules': gitmodules,
      'libs/x/': '',
      'a.py': 'x = 1\n',
      'data.bin': pointer,
      'model.py': pointer,
      '.gitattributes': '_version.py export-subst\n',
      '_version.py': 'commit = "1234abc"\n',
    }
    host.put(head, await hostArchive(files))
    const runId = await stages.toFetch()
    await snapshot(runId)
    await runDiscoveryStage(runId, stages.deps, stages.signal)
    const skipped = (await eventsOf(runId)).flatMap(({ data }) => data['skipped_files'] ?? [])
    expect(skipped).toEqual([
      { path: 'libs/x', reason: 'a submodule: its code is in another repository' },
      { path: '_version.py', reason: 'filled in by git for the archive (export-subst)' },
      { path: 'data.bin', reason: 'pointer of Git LFS' },
      { path: 'model.py', reason: 'pointer of Git LFS' },
    ])
    expect(await filesOf(runId)).toContain('data.bin') // as it is in the commit
  })
})

describe('a run whose code cannot be fetched', () => {
  const failure = async (runId: string) => {
    expect(await snapshot(runId)).toBe('failed')
    return runOf(runId)
  }

  it.each(['HOST_002', 'RUN_001'])('fails with the code of the publisher: %s', async (code) => {
    host.answers.access = saying(404, { error_code: code, detail: 'the reason' })
    expect(await failure(await stages.toFetch())).toMatchObject({
      status: 'failed',
      errorCode: code,
      reason: 'the reason',
    })
  })

  it.each([
    [401, 'HOST_003'],
    [451, 'HOST_003'],
    [404, 'HOST_004'],
  ])('fails when the code host answers %i: %s', async (status, errorCode) => {
    host.answers.api = saying(status)
    expect(await failure(await stages.toFetch())).toMatchObject({ status: 'failed', errorCode })
  })

  it.each<[string, TestHost['answers']['archives']]>([
    ['a limit', saying(429)],
    ['a limit that GitHub answers with 403', saying(403, {}, { 'x-ratelimit-remaining': '0' })],
    ['silence', () => undefined],
    [
      'an archive that breaks off',
      (request, response) => {
        response.writeHead(200, { 'content-length': '100000' }).write('begin', () => request.socket.destroy())
      },
    ],
    ['an archive that stops', (_request, response) => void response.writeHead(200).write('begin')],
  ])('waits after %s', async (_what, answer) => {
    if (answer !== undefined) host.answers.archives = answer
    const runId = await stages.toFetch()
    await expect(snapshot(runId)).rejects.toMatchObject({ code: 'HOST_001' })
    expect(await runOf(runId)).toMatchObject({ status: 'running', phase: 'snapshot' })
    expect(await stages.stores.keys()).toEqual([])
  })

  it.each<[string, Partial<TestHost['answers']>]>([
    ['the host', { archives: saying(429, {}, { 'retry-after': '1800' }) }],
    [
      'the publisher',
      { access: saying(503, { error_code: 'HOST_001', detail: 'a limit' }, { 'retry-after': '1800' }) },
    ],
  ])('waits as long as %s asks, and fails in the end', async (_whom, answers) => {
    Object.assign(host.answers, answers)
    const runId = await stages.toFetch()
    await expect(snapshot(runId)).rejects.toMatchObject({ code: 'HOST_001' })
    now += 1_799_000
    expect(await snapshot(runId)).toBe('idle')
    now += 61_000 // not all runs come back at once
    await expect(snapshot(runId)).rejects.toMatchObject({ code: 'HOST_001' })
    now += 7_200_000
    expect(await snapshot(runId)).toBe('failed')
    expect(await runOf(runId)).toMatchObject({ stop: { kind: 'fault', errorCode: 'HOST_001' } })
  })

  it('waits while the publisher is away or does not make sense', async () => {
    host.answers.access = saying(200, { commit: 'x' })
    await expect(snapshot(await stages.toFetch())).rejects.toMatchObject({ code: 'HOST_001' })
    host.answers.access = (request) => void request.socket.destroy()
    await expect(snapshot(await stages.toFetch())).rejects.toMatchObject({ code: 'HOST_001' })
  })

  it('follows no circle of addresses', async () => {
    host.answers.api = (request, response) => void response.writeHead(302, { location: request.url }).end()
    expect(await failure(await stages.toFetch())).toMatchObject({ errorCode: 'HOST_003' })
    expect(host.seen).toHaveLength(6)
  })

  it.each([
    ['without a common folder', { 'a.py': '' }, ''],
    [
      'that is too large',
      { 'a.py': Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('hex') },
      'x/',
    ],
  ])('fails for an archive %s, and keeps nothing of it', async (what, files, top) => {
    host.put(head, await hostArchive(files, top === '' ? './' : top))
    stages.snapshots.maxUploadBytes = 50_000
    const { errorCode } = await failure(await stages.toFetch())
    expect(errorCode).toBe(what.includes('large') ? 'INTAKE_003' : 'INTAKE_001')
    expect((await stages.stores.keys()).filter((key) => key.startsWith('uploads/'))).toEqual([])
  })
})
