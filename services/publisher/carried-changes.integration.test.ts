import { describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import { changeSetIdsOf } from '#domain/operation.ts'
import { lacks } from '#testing/this-machine.ts'
import { type PlayedChange, usePublisher } from './published-run.fixture.ts'

const files = { 'a.py': 'a = 1\n', 'b.py': 'b = 1\n', 'c.py': 'c = 1\n', 'd.py': 'd = 1\n' }
const change = (name: string, to = '2', others: Partial<PlayedChange> = {}): PlayedChange => {
  return { name, path: `${name}.py`, from: '1', to, ...others }
}

describe.skipIf(lacks('git'))('what is open in a pull request when somebody pushes', () => {
  const at = usePublisher({ files })
  const published = (changes: PlayedChange[]) => at.published({ changes, files })
  const inBranch = (branch = 'remora/main') => at.repository.git(['diff', '--name-only', 'main', branch])
  const settings = (text: string) => at.repository.humanCommit('main', { 'remora.yaml': `github: { ${text} }\n` })
  async function again(...runs: RunId[]): Promise<void> {
    await at.publisher.takeAll()
    for (const runId of runs) await at.publisher.settle(runId)
  }
  const pullsOf = async (runId: RunId) => (await at.publisher.publicationOf(runId))?.pulls

  it('stays, and counts for its limits: what has no room waits for the next one', async () => {
    await settings('max_files: 2')
    const first = await published([change('b'), change('c')])
    const second = await published([change('a')])
    expect(await inBranch()).toBe('b.py\nc.py')
    expect(at.repository.pulls()).toMatchObject([{ body: expect.stringContaining('1 change more') }])
    await at.repository.mergePull(1, { method: 'merge' })
    await again(second, first, second)
    expect(at.repository.pulls()).toHaveLength(2)
    expect(await pullsOf(second)).toMatchObject([
      { state: 'merged' },
      { state: 'open', carried: [{ runId: first, changeSetIds: [] }] },
    ])
    expect(await inBranch()).toBe('a.py')
  })

  it('keeps the title and the order of the commits, whatever the next push changes', async () => {
    const titles = () => at.repository.git(['log', '--reverse', '--format=%s', 'main..remora/main'])
    await published([change('b'), change('c', '2', { agent: 'docstring' })])
    const title = 'Document definitions and fix lint findings'
    expect(at.repository.pulls()).toMatchObject([{ title }])
    expect(await titles()).toBe('Document definitions in 1 file\nFix lint findings in 1 file')
    await published([change('a'), change('d', '2', { agent: 'test' })])
    expect(at.repository.pulls()).toMatchObject([{ title, body: expect.stringContaining('4 changes') }])
    expect(await titles()).toBe('Document definitions in 1 file\nFix lint findings in 2 files\nAdd tests in 1 file')
  })

  it('is proposed again by the next run where its pull request was never opened, or lost its branch', async () => {
    const first = await at.play({ changes: [change('a')], files })
    const since = (runId: RunId) => ({ source: { since: { runId } } })
    const second = await at.published({ changes: [change('b')], files, ...since(first) })
    expect(await inBranch()).toBe('a.py\nb.py')
    await at.repository.deleteBranch('remora/main')
    await again(first, second)
    expect(at.repository.pulls()).toMatchObject([{ state: 'closed' }])
    await at.published({ changes: [change('c')], files, ...since(second) })
    expect(await inBranch()).toBe('a.py\nb.py\nc.py')
  })

  it('brings what waited for room only as far as there is some, and not what is too large', async () => {
    await settings('max_files: 3, max_lines: 6')
    const large = change('d', '9\nd = 8\nd = 7\nd = 6\nd = 5\nd = 4')
    const first = await published([change('a'), change('b'), change('c'), large])
    expect(await inBranch()).toBe('a.py\nb.py\nc.py')
    await settings('max_files: 9, max_lines: 6')
    const second = await published([])
    expect(await inBranch()).toBe('a.py\nb.py\nc.py')
    await settings('max_files: 9, max_lines: 13')
    const third = await published([])
    expect(await inBranch()).toBe('a.py\nb.py\nc.py\nd.py')
    const carried = [{ runId: first }, { runId: second, changeSetIds: [] }]
    expect(await pullsOf(third)).toMatchObject([{ number: 1, changeSetIds: [], carried }])
    await again(second, first, third)
    expect(at.repository.pulls()).toHaveLength(1)
  })

  it('is proposed once, when a person has merged a pull request that a later run has brought up to date', async () => {
    await settings('max_files: 2')
    const first = await published([change('a'), change('b'), change('c')])
    await settings('max_files: 3')
    const second = await published([change('d')])
    expect(await inBranch()).toBe('a.py\nb.py\nc.py')
    await at.repository.mergePull(1, { method: 'squash' })
    await again(first, second, first)
    expect(await inBranch()).toBe('d.py')
    expect(at.repository.pulls()).toMatchObject([{ state: 'closed' }, { state: 'open' }])
  })

  it('gets what people accept more in a run whose pull request a later run has closed', async () => {
    const pending = { ...change('b'), isPending: true } as const
    const first = await published([change('a'), pending])
    await at.repository.humanCommit('main', { 'a.py': 'a = 7\n' })
    const now = { ...files, 'a.py': 'a = 7\n' }
    const second = await at.published({ changes: [], files: now, source: { since: { runId: first } } })
    expect(at.repository.pulls()).toMatchObject([{ state: 'closed' }])
    const check = at.repository.checkRuns().find(({ externalId }) => externalId === first)
    at.repository.requestAction(check?.id ?? 0, 'accept_all', {})
    await again(first, second, first)
    expect(at.repository.pulls()).toMatchObject([{ state: 'closed' }, { state: 'open' }])
    expect(await inBranch()).toBe('b.py')
  })

  it('is left out when people have declined it meanwhile', async () => {
    await published([change('a'), change('b')])
    await at.repository.humanCommit('next', { 'remora.yaml': 'github: {}\n' })
    const source = { branch: 'next', ref: 'refs/heads/next', commit: (await at.repository.tip('next')) ?? '' }
    await at.published({ changes: [change('a')], files, source })
    await at.repository.closePull(2)
    await at.publisher.takeAll()
    await published([change('c')])
    expect(await inBranch()).toBe('b.py\nc.py')
  })

  it('gives way to what a later run has made for the same code, also when that is merged', async () => {
    const first = await published([change('b')])
    const now = { ...files, 'b.py': 'b = 1\n\n\nc = 2\n' }
    await at.repository.humanCommit('main', { 'b.py': now['b.py'] })
    const since = (runId: RunId) => ({ source: { since: { runId } } })
    const second = await at.published({ changes: [change('b', '5')], files: now, ...since(first) })
    expect(await at.repository.read('remora/main', 'b.py')).toBe('b = 5\n\n\nc = 2\n')
    expect(await pullsOf(second)).toMatchObject([{ carried: [{ runId: first, changeSetIds: [] }] }])
    await at.repository.mergePull(1, { method: 'squash' })
    await again(second, first, second)
    expect(at.repository.pulls()).toMatchObject([{ state: 'closed' }])
    const states = await Promise.all(
      [first, second].map(async (runId) => (await pullsOf(runId))?.map(({ state }) => state)),
    )
    expect(states).toEqual([['merged'], ['merged']])
  })

  it('does not come back where people reject what a later run has made for the same code', async () => {
    const first = await published([change('a'), change('b')])
    const now = { ...files, 'b.py': 'b = 1\n\n\nc = 2\n' }
    await at.repository.humanCommit('main', { 'b.py': now['b.py'] })
    const later: PlayedChange = { ...change('b', '5'), isPending: true }
    const second = await at.play({ changes: [later], files: now, source: { since: { runId: first } } })
    const { ledger } = at.publisher
    const [made] = (await ledger.listOperations(second, { limit: 1 })).operations
    if (made?.outcome?.recordHash === undefined) throw new Error('nothing was made')
    const { operationId, node, bundle: agent } = made
    const of = { changeSetId: changeSetIdsOf(made.outcome)[0] ?? '', runId: second, operationId, node, agent }
    const rejected = {
      ...of,
      recordHash: made.outcome.recordHash,
      before: 'pending',
      verdict: 'rejected',
      reason: null,
    } as const
    await ledger.decide(second, { last: 0, decisions: [rejected], by: { kind: 'human', id: 't' } })
    await at.publisher.settle(second)
    expect(await inBranch()).toBe('a.py')
  })

  it('stays where a later run has changed another definition of the same name, such as the setter of a property', async () => {
    const property = (name: string) =>
      ({ name, qualifiedName: 'Shelf.size', path: 'b.py', from: `${name} = 1`, to: `${name} = 2` }) as const
    const [before, now] = [{ 'b.py': 'get = 1\n\n\nset = 0\n' }, { 'b.py': 'get = 1\n\n\nset = 1\n' }]
    await at.repository.humanCommit('main', before)
    const first = await at.published({ changes: [property('get')], files: before })
    await at.repository.humanCommit('main', now)
    await at.published({ changes: [property('set')], files: now, source: { since: { runId: first } } })
    expect(await at.repository.read('remora/main', 'b.py')).toBe('get = 2\n\n\nset = 2\n')
  })

  it('stays in the pull request of its agent', async () => {
    await settings('per_agent: true, max_files: 1')
    await published([change('b'), change('a', '3', { agent: 'docstring' })])
    await published([change('a', '2'), change('d', '3', { agent: 'docstring' })])
    expect(await inBranch('remora/main--lint')).toBe('b.py')
    expect(await inBranch('remora/main--docstring')).toBe('a.py')
    expect(at.repository.pulls()).toHaveLength(2)
  })
})
