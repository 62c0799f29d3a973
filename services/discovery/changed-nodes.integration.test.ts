import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RunId } from '#domain/ids.ts'
import { PartId } from '#domain/patch-note.ts'
import type { RepositorySource } from '#domain/repository-source.ts'
import { getPlanSummary } from '#store/objects/plan-summary.ts'
import { putComposition } from '#store/objects/stored-records.ts'
import { commitOf, hostArchive, openTestHost, type TestHost } from '#stages/snapshot/fetch/code-host.fixture.ts'
import { markReferences } from './housekeeping/mark-references.ts'
import { runDiscoveryStage } from './discovery-stage.ts'
import { openStages, type TestStages } from './open-stages.fixture.ts'
import { runSnapshotStage } from './snapshot-stage.ts'
import { findBaseList } from '#stages/snapshot/base-nodes.ts'

const [before, after, moved] = [commitOf('a'), commitOf('b'), commitOf('c')]
const files = 10
const functionsEach = 49

const all = () => Object.fromEntries(Array.from({ length: files }, (_, at) => [`shop/m${at}.py`, fileOf(at)]))

/** Nothing has a docstring, each function has a fault with a safe fix, and one that a model is asked for. */
function fileOf(file: number): string {
  const functions = Array.from({ length: functionsEach }, (_, at) => {
    return `def f${at}(row):\n    label = f"shelf ${file}"\n    return label + row + missing_${file}_${at}\n`
  })
  return `import os\n\n\n${functions.join('\n\n')}`
}

let host: TestHost
let stages: TestStages
let baseRun = ''
beforeAll(async () => {
  host = await openTestHost()
  stages = await openStages({ publisher: host.publisher })
  const changed = {
    ...all(),
    'shop/m7.py': fileOf(7).replace('return label + row + missing_7_20', 'return row + missing_7_20'),
  }
  const { 'shop/m7.py': one = '', ...others } = all()
  host.put(before, await hostArchive(all()))
  host.put(after, await hostArchive(changed))
  host.put(moved, await hostArchive({ ...others, 'stock/m7.py': one }))
  baseRun = await planned({ commit: before })
}, 120_000)
afterAll(async () => {
  await stages.close()
  await host.close()
})

async function planned(source: Partial<RepositorySource>): Promise<string> {
  const labels = { 'remora.model': 'servers' }
  const runId = await stages.toFetch(source, { agents: ['lint', 'docstring'], labels })
  expect(await runSnapshotStage(runId, stages.snapshots, stages.signal)).toBe('ok')
  expect(await runDiscoveryStage(runId, stages.deps, stages.signal)).toBe('ok')
  return runId
}

async function planOf(runId: string) {
  const { ledger, objects } = stages.stores
  const run = await ledger.getRun(runId)
  const { operations } = await ledger.listOperations(runId, { limit: 10 })
  const summary = await getPlanSummary(objects, { projectId: run.projectId, runId, hash: run.planKey ?? '' })
  const events = await ledger.readEvents(runId, { after: 0, limit: 100 })
  const names = operations.map(({ bundle, work, node }) => `${bundle} ${work} ${node.path} ${node.qualifiedName}`)
  const eventNamed = (name: string) => events.find(({ event }) => event === name)?.data
  return { run, names, summary, planned: eventNamed('run.planned'), stored: eventNamed('snapshot.stored') }
}

const changedWork = [
  'lint mechanical shop/m7.py shop/m7.py',
  'lint agent shop/m7.py f20',
  'docstring agent shop/m7.py f20',
]

describe('a run that is compared with an earlier state of the code', () => {
  it('plans only what has changed since a run of the branch', async () => {
    const {
      run,
      names,
      summary,
      planned: told,
      stored,
    } = await planOf(await planned({ commit: after, since: { runId: baseRun, commit: before } }))
    expect(run).toMatchObject({ nodes: files * (functionsEach + 1), phase: 'execution', baseSnapshotId: null })
    expect(names.toSorted()).toEqual(changedWork.toSorted())
    expect(summary).toMatchObject({ nodesLookedAt: 2, unchanged: 498 })
    expect(told).toMatchObject({ operations: 3, nodes_looked_at: 2, unchanged: 498 })
    expect(stored).not.toHaveProperty('base_commit')
    expect((await stages.stores.ledger.verify(run.runId)).violations).toEqual([])
  })

  it.each([{}, { runId: 'r0deleted001' }])('plans only what has changed since a commit: %j', async (since) => {
    host.answers.base = before
    const { run, names, stored } = await planOf(await planned({ commit: after, since: { ...since, commit: before } }))
    expect(names.toSorted()).toEqual(changedWork.toSorted())
    const base = await stages.stores.ledger.getRun(baseRun)
    expect(run.baseSnapshotId).toBe(base.snapshotId)
    expect(stored).toMatchObject({ commit: after, base_commit: before })
    expect((await stages.stores.keys()).filter((key) => key.includes('.base'))).toEqual([])
  })

  it('is not failed by a second delivery that takes the same base at the same time', async () => {
    host.answers.base = before
    const runId = await stages.toFetch({ commit: after, since: { commit: before } }, { agents: ['lint'] })
    const { snapshots, signal } = stages
    const between: string[] = []
    async function* getStream(...of: Parameters<typeof snapshots.objects.getStream>) {
      if (between.length === 0 && of[0].includes('.base'))
        between.push(await runSnapshotStage(runId, snapshots, signal))
      yield* snapshots.objects.getStream(...of)
    }
    const slow = { ...snapshots, objects: { ...snapshots.objects, getStream } }
    expect(await runSnapshotStage(runId, slow, signal)).toBe('ok')
    expect(between).toEqual(['ok'])
    expect(await stages.stores.ledger.getRun(runId)).toMatchObject({ status: 'running' })
    expect((await stages.stores.keys()).filter((key) => key.includes('.base'))).toEqual([])
  })

  it('plans nothing for what that run has proposed and people have merged, with a change of their own beside it', async () => {
    const { ledger, objects, project } = stages.stores
    const { blobs } = stages.deps
    const put = (text: string) => blobs.put(project, Buffer.from(text))
    const documented = (name: string) => fileOf(8).replace(`def ${name}(row):`, `$&\n    """Label a row."""`)
    const made = [
      { name: 'f3', part: 'a' },
      { name: 'f4', part: 'b' },
      { name: 'f5', part: 'c' },
    ]
    const runId = RunId.parse(baseRun)
    for (const { name, part } of made) {
      const [baseHash, resultHash] = [await put(fileOf(8)), await put(documented(name))]
      const file = { path: 'shop/m8.py', baseHash, resultHash, changeSetIds: [], evidence: [] }
      const composed = { v: 1 as const, runId, of: 'accepted' as const, files: [file], conflicts: [] }
      const compositionKey = await putComposition(objects, { projectId: project, runId: composed.runId }, composed)
      await ledger.notePart(runId, { part: PartId.parse(part.repeat(64)), decided: 1, compositionKey })
    }
    // It has published nothing yet, as before the next time of a schedule.
    const waiting = await planned({ commit: before, since: { runId: baseRun } })
    for (const [name, commit] of Object.entries({ f3: commitOf('9'), f4: commitOf('8'), f5: commitOf('7') })) {
      const merged = documented(name).replace('return label + row + missing_8_20', 'return row + missing_8_20')
      host.put(commit, await hostArchive({ ...all(), 'shop/m8.py': merged }))
      for (const since of [baseRun, waiting]) {
        const { names } = await planOf(await planned({ commit, since: { runId: since } }))
        expect(names.toSorted()).toEqual(changedWork.map((work) => work.replaceAll('m7', 'm8')).toSorted())
      }
    }
  })

  it('plans nothing where a file has only moved, and goes on to its empty patch', async () => {
    const { run, names, summary } = await planOf(await planned({ commit: moved, since: { runId: baseRun } }))
    expect(names).toEqual([])
    expect(run).toMatchObject({ status: 'running', phase: 'review', isPlanned: true })
    expect(summary).toMatchObject({ nodesLookedAt: 0, unchanged: 500 })
  })

  it.each([null, commitOf('d')])(
    'plans all of it, and says why, where nothing is left to compare it with',
    async (base) => {
      host.answers.base = base // the archive of this commit is not there
      const gone = { runId: 'r0deleted001', commit: commitOf('d') }
      const { run, summary } = await planOf(await planned({ commit: after, since: gone }))
      expect(run.counts['pending'] ?? 0).toBeGreaterThan(0)
      expect(summary).toMatchObject({ nodesLookedAt: 500 })
      expect(summary).not.toHaveProperty('unchanged')
      expect(summary.notices[0]).toBe(
        `run r0deleted001 and commit ${commitOf('d')} are gone: all of the code counts as changed`,
      )
    },
  )

  it('keeps what it is compared with as long as it is kept itself', async () => {
    const { objects, ledger, retention, project } = stages.stores
    host.put(commitOf('e'), await hostArchive({ 'old.py': 'def old(): pass\n' }))
    host.answers.base = commitOf('e')
    const runId = await planned({ commit: after, since: { commit: commitOf('e') } })
    const { baseSnapshotId } = await ledger.getRun(runId)
    const { files: old } = await stages.deps.readSnapshot(project, baseSnapshotId ?? '')
    const marks = await markReferences(project, { ledger, objects, retention }, stages.signal)
    expect(marks.snapshot.has(baseSnapshotId ?? '')).toBe(true)
    expect(marks.blob.has(old[0]?.hash ?? '')).toBe(true)
  })

  it('is not set up when people without permission may have written it', async () => {
    host.put(commitOf('f'), await hostArchive({ 'a.py': 'def f():\n    return f"x"\n' }))
    const asked = { agents: ['lint'], setup: 'make venv' }
    const environments = [false, true].map(async (isFork) => {
      const runId = await stages.toFetch({ commit: commitOf('f'), isFork }, asked)
      await runSnapshotStage(runId, stages.snapshots, stages.signal)
      await runDiscoveryStage(runId, stages.deps, stages.signal)
      const { environment, phase } = await stages.stores.ledger.getRun(runId)
      return { environment: environment?.kind, phase }
    })
    expect(await Promise.all(environments)).toEqual([
      { environment: 'wanted', phase: 'planning' },
      { environment: undefined, phase: 'execution' },
    ])
  })

  it('is not compared with a run of another project', async () => {
    const { request } = await stages.stores.ledger.getRun(await stages.toFetch({ since: { runId: baseRun } }))
    expect(await findBaseList({ projectId: stages.stores.project, request }, stages.stores)).toBeDefined()
    expect(await findBaseList({ projectId: 'another', request }, stages.stores)).toBeUndefined()
  })
})
