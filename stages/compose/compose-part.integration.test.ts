import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { askPart, type PatchAnswer } from '#change-sets/ask-patch.ts'
import { GateRequest } from '#domain/gate.ts'
import type { RunId } from '#domain/ids.ts'
import { laterCompositions } from '#domain/patch-note.ts'
import type { WantedPatch } from '#domain/run.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { partId } from '#store/objects/patch-part.ts'
import { getComposition } from '#store/objects/stored-records.ts'
import { verifyRun } from '#stages/audit/verify-run.ts'
import { testSandbox } from '#sandbox/sandbox.fixture.ts'
import { type AcceptedRun, playEdits, type PlayedEdit } from './accepted-run.fixture.ts'
import { composePatch } from './compose-patch.ts'
import { type TestComposition, testComposition } from './composition.fixture.ts'

const never = new AbortController().signal
const { sandbox, lack } = await testSandbox(process.env)
let opened: TestComposition
let jobs: string[]
beforeAll(async () => {
  opened = await testComposition(sandbox)
})
beforeEach(() => {
  jobs = []
})
afterAll(() => opened.close())

/** Asks for a part as the publisher does; a worker has each job at once. */
async function ask(runId: RunId, changeSetIds: readonly string[]): Promise<PatchAnswer> {
  const { test, store, deps } = opened
  const run = await test.ledger.getRun(runId)
  const { objects, project } = store
  const add = async (_queue: 'patches', id: string, { run_id, of, part }: { run_id: RunId } & WantedPatch) => {
    jobs.push(id)
    await composePatch({ runId: run_id, of, part }, deps, never)
  }
  const readComposition = async (_run: unknown, hash?: string) =>
    hash === undefined ? null : getComposition(objects, { projectId: project, runId, hash })
  const asking = { ledger: test.ledger, objects, producer: { add }, records: { readComposition } }
  return askPart(run, { changeSetIds: changeSetIds }, asking, { waitMs: 10_000, signal: never })
}

/** The composed text of the only file, and why the sets that are left out are. */
async function composedIn(runId: RunId, changeSetIds: readonly string[]) {
  const answer = await ask(runId, changeSetIds)
  if (answer.kind !== 'there') throw answer.kind === 'faulty' ? answer.fault : new Error('it is not there')
  const { files, conflicts, gate } = answer.composition
  const texts = files.map(async ({ resultHash }) =>
    Buffer.from(await opened.deps.blobs.get(opened.store.project, resultHash ?? '')).toString(),
  )
  return { texts: await Promise.all(texts), leftOut: conflicts.map(({ errorCode }) => errorCode), gate: gate?.verdict }
}

const source = 'one = 1\ntwo = 2\nthree = 3\n'
const edit = (name: string, from: string, to: string, on?: string[]): PlayedEdit => {
  return { name, path: 'a.py', from, to, ...(on && { on }) }
}
const three = [edit('one', '1', '10'), edit('two', '2', '20'), edit('three', 'one = 1', 'one = 11', ['one'])]

async function played(...accepted: string[]): Promise<AcceptedRun> {
  const run = await playEdits(opened, { 'a.py': source }, { edits: three })
  for (const name of accepted) await run.decide(name, 'accepted')
  return run
}

describe('a part of what was accepted', () => {
  it('has these change sets and no others, and is composed once', async () => {
    const { runId, idOf } = await played('one', 'two', 'three')
    expect((await composedIn(runId, [idOf('two')])).texts).toEqual(['one = 1\ntwo = 20\nthree = 3\n'])
    expect((await composedIn(runId, [idOf('one')])).texts).toEqual(['one = 10\ntwo = 2\nthree = 3\n'])
    expect((await composedIn(runId, [idOf('three'), idOf('one')])).texts).toEqual(['one = 11\ntwo = 2\nthree = 3\n'])
    expect((await composedIn(runId, [idOf('one'), idOf('three'), idOf('one')])).leftOut).toEqual([])
    expect(jobs).toHaveLength(3)
    expect(await composedIn(runId, [])).toEqual({ texts: [], leftOut: [], gate: undefined })
  })

  it('stays as it is when something else is decided', async () => {
    const { runId, idOf, decide } = await played('one')
    await composedIn(runId, [idOf('one')])
    await decide('two', 'accepted')
    await composedIn(runId, [idOf('one')])
    expect(jobs).toHaveLength(1)
  })

  it.each([
    ['is not accepted', 'WORK_003', ['one', 'two']],
    ['no operation has made', 'RUN_004', ['one', 'c0123456789abcdef']],
    ['is built on one that is not in the part', 'WORK_002', ['three']],
  ])('cannot have a change set that %s', async (_what, code, names) => {
    const { runId, idOf } = await played('one', 'three')
    const ids = names.map((name) => (name.startsWith('c0') ? name : idOf(name)))
    expect(await ask(runId, ids)).toMatchObject({ kind: 'faulty', fault: { code } })
    expect((await opened.test.ledger.getRun(runId)).parts).toMatchObject([
      { part: partId({ changeSetIds: ids }), errorCode: code },
    ])
    // It is believed for a while.
    expect(await ask(runId, ids)).toMatchObject({ kind: 'faulty' })
    expect(jobs).toHaveLength(1)
  })

  it('ends with a decision against one of its sets, and nothing is left of it then', async () => {
    const { runId, idOf, decide } = await played('one', 'two')
    const ids = [idOf('one'), idOf('two')]
    await composedIn(runId, ids)
    const [note] = (await opened.test.ledger.getRun(runId)).parts
    const { objects, project } = opened.store
    const key = objectKeys.composition(project, runId, (note && 'compositionKey' in note && note.compositionKey) || '')
    expect(await objects.exists(key)).toBe(true)
    await decide('two', 'rejected')
    expect(await ask(runId, ids)).toMatchObject({ kind: 'faulty', fault: { code: 'WORK_003' } })
    expect(await objects.exists(key)).toBe(false)
    await decide('two', 'accepted')
    expect((await composedIn(runId, ids)).texts).toEqual(['one = 10\ntwo = 20\nthree = 3\n'])
  })

  it('has the same composition as another patch under another name, and is in the proof of its run', async () => {
    const { runId, idOf } = await played('two')
    const { ledger } = opened.test
    await composePatch({ runId, of: 'accepted' }, opened.deps, never)
    await composedIn(runId, [idOf('two')])
    const run = await ledger.getRun(runId)
    expect(run.parts).toMatchObject([{ part: partId({ changeSetIds: [idOf('two')] }) }])
    expect(new Set(laterCompositions(run)).size).toBe(2)
    const deps = {
      ledger,
      objects: opened.store.objects,
      queues: { missing: async (_q: string, ids: string[]) => ids },
    }
    const about = async () => {
      const { violations } = await verifyRun(runId, deps)
      // The records of this test are no whole ones.
      return violations.map(({ message }) => message).filter((message) => message.includes('part'))
    }
    expect(await about()).toEqual([])
    await opened.store.objects.delete(
      objectKeys.patchPart(opened.store.project, runId, partId({ changeSetIds: [idOf('two')] })),
    )
    expect(await about()).toEqual([expect.stringContaining('missing')])
  })

  it.skipIf(lack !== undefined)(`is tested by itself where its run has a gate${lack ? ` (${lack})` : ''}`, async () => {
    // Two changes that are right only together.
    const files = {
      'sums.py': 'def add(x):\n    return x + 8\n\n\ndef take(x):\n    return x - 8\n',
      'test_sums.py':
        'import unittest\n\nimport sums\n\n\nclass Sums(unittest.TestCase):\n    def test_both(self):\n        self.assertEqual(sums.take(sums.add(1)), 1)\n',
    }
    const edits = [
      { name: 'add', path: 'sums.py', from: 'x + 8', to: 'x + 4' },
      { name: 'take', path: 'sums.py', from: 'x - 8', to: 'x - 4' },
    ]
    const verify = GateRequest.parse({ command: 'python3 -m unittest', runs: 1 })
    const { runId, idOf, decide } = await playEdits(opened, files, { edits, verify })
    for (const { name } of edits) await decide(name, 'accepted')
    expect(await composedIn(runId, [idOf('add')])).toEqual({ texts: [], leftOut: ['WORK_007'], gate: 'passed' })
    const both = await composedIn(runId, [idOf('add'), idOf('take')])
    expect(both).toMatchObject({ texts: [expect.stringContaining('x - 4')], leftOut: [], gate: 'passed' })
  })
})
