import { afterEach, describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import type { Moment } from '#testing/fake-github/network-faults.ts'
import { lacks } from '#testing/this-machine.ts'
import { type PlayedRun, usePublisher } from './published-run.fixture.ts'

const changes: PlayedRun['changes'] = [{ name: 'one', path: 'a.py', from: '1', to: '2' }]
const other: PlayedRun['changes'] = [{ name: 'two', path: 'b.py', from: '1', to: '3' }]

describe.skipIf(lacks('git'))('a pull request that ends', () => {
  const at = usePublisher({ settings: { labels: ['remora'] } })
  afterEach(() => at.publisher.github.watch(() => {}))

  const published = (played: Partial<PlayedRun> = {}) => at.published({ changes, ...played })
  async function pullsOf(runId: RunId) {
    const { pulls = [] } = (await at.publisher.publicationOf(runId)) ?? {}
    return pulls.map(({ number, state }) => ({ number, state }))
  }
  /** Merges it at the first such moment, and its webhook is handled at once. */
  function mergeAt(isMeant: (moment: Moment) => boolean): { isDone: boolean } {
    const merged = { isDone: false }
    at.publisher.github.watch(async (moment) => {
      if (merged.isDone || !isMeant(moment)) return
      merged.isDone = true
      await at.repository.mergePull(1)
      await at.publisher.takeAll()
    })
    return merged
  }

  it('while the publisher updates it is known as merged', async () => {
    const runId = await published()
    const merged = mergeAt(
      ({ method, path, when }) => method === 'PATCH' && path.endsWith('/pulls/1') && when === 'before',
    )
    await at.publisher.settle(runId)
    expect(merged.isDone).toBe(true)
    expect(await pullsOf(runId)).toEqual([{ number: 1, state: 'merged' }])
  })

  it.each([
    ['right after it was opened', /pulls$/],
    ['while it gets its labels', /labels$/],
  ])('%s is known as merged, and nothing of it is proposed again', async (_, path) => {
    const runId = await at.play({ changes })
    const merged = mergeAt((moment) => moment.method === 'POST' && path.test(moment.path) && moment.when === 'after')
    await at.publisher.settle(runId)
    expect(merged.isDone).toBe(true)
    expect(await pullsOf(runId)).toEqual([{ number: 1, state: 'merged' }])
    const files = { 'a.py': 'a = 2\n', 'b.py': 'b = 1\n', 'README.md': '# Shop\n' }
    const next = await published({ changes: other, files })
    expect(await pullsOf(next)).toEqual([{ number: 2, state: 'open' }])
    expect(await at.repository.git(['diff', '--name-only', 'main', 'remora/main'])).toBe('b.py')
  })

  it.each(['merged', 'closed'] as const)('and is %s without a webhook is known to be at the next look', async (how) => {
    const runId = await published()
    await at.publisher.takeAll()
    at.publisher.github.webhooks.drop(1, 'pull_request')
    await (how === 'merged' ? at.repository.mergePull(1) : at.repository.closePull(1))
    await at.publisher.takeAll()
    await at.publisher.settle(runId)
    expect(await pullsOf(runId)).toEqual([{ number: 1, state: how }])
    expect(at.repository.pulls()).toHaveLength(1)
  })

  it('since a later run finds nothing left of it is closed in the run that has it, too, and stays so', async () => {
    const older = await published()
    await at.repository.humanCommit('main', { 'a.py': 'a = 9\n' })
    const files = { 'a.py': 'a = 9\n', 'b.py': 'b = 1\n', 'README.md': '# Shop\n' }
    await published({ changes: [], files })
    await at.publisher.takeAll()
    expect(at.repository.pulls()).toMatchObject([{ state: 'closed' }])
    expect(await pullsOf(older)).toEqual([{ number: 1, state: 'closed' }])
    await at.publisher.settle(older)
    expect(at.repository.pulls()).toHaveLength(1)
  })
})
