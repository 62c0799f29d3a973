import { beforeAll, describe, expect, it } from 'vitest'
import { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from '../../services/publisher/published-run.fixture.ts'
import { checkPushes, type Pushed, type PushStack, stateOfPushes } from './check-pushes.ts'

type History = { pushed: Pushed; run: Run; runs: readonly Run[]; stack: PushStack; proposed: string }
type Tampering = (good: History) => Partial<History>

const otherId = RunId.parse('r0000000000')
const changes = [
  { name: 'one', path: 'a.py', from: '1', to: '2' },
  { name: 'two', path: 'b.py', from: '1', to: '3' },
]

/** The repository as it is, but for some of what is read of it. */
function withRepository({ pushed }: History, other: Partial<Pushed['repository']>): Partial<History> {
  return { pushed: { ...pushed, repository: { ...pushed.repository, ...other } } }
}

function withPublication({ run }: History, other: Partial<NonNullable<Run['publication']>>): Partial<History> {
  return { runs: [{ ...run, publication: run.publication && { ...run.publication, ...other } }] }
}

function withPatch({ stack, proposed }: History, of: 'proposed' | 'accepted', patch: string): Partial<History> {
  const ask = async (path: string) => new Response(path.endsWith(of) ? patch : proposed)
  return { stack: { ...stack, api: { ask } } }
}

function withHandled(
  { stack }: History,
  change: (all: Awaited<ReturnType<PushStack['inbox']['listHandled']>>) => typeof all,
): Partial<History> {
  const listHandled = async (count: number) => change(await stack.inbox.listHandled(count))
  return { stack: { ...stack, inbox: { ...stack.inbox, listHandled } } }
}

const twice = <T>(all: readonly T[]): T[] => [...all, ...all]
const fault = { errorCode: 'PUBLISH_001', reason: 'a link', at: 1 } as const

const wrong: [string, Tampering][] = [
  ['2 pull requests are open', (good) => withRepository(good, { pulls: () => twice(good.pushed.repository.pulls()) })],
  ['2 changes are in no pull request', (good) => withRepository(good, { pulls: () => [] })],
  [
    'a check run was made of',
    (good) => withRepository(good, { checkRuns: () => twice(good.pushed.repository.checkRuns()) }),
  ],
  ['its check run is of no run', (good) => withRepository(good, { checkRuns: () => [] })],
  [
    'it was commented on #1: well done 2 times',
    (good) => withRepository(good, { comments: () => twice(good.pushed.repository.comments()) }),
  ],
  ['it has no run', () => ({ runs: [] })],
  ['was worked on 2 times', ({ run }) => ({ runs: [run, { ...run, runId: otherId }] })],
  ['not published: {"errorCode":"PUBLISH_001"', (good) => withPublication(good, { fault })],
  ['and noted as undefined', (good) => withPublication(good, { pulls: [] })],
  ['its a.py is', (good) => withPatch(good, 'accepted', good.proposed.replace('+a = 2', '+a = 9'))],
  ['git apply', (good) => withPatch(good, 'proposed', good.proposed.replace('-a = 1', '-a = 7'))],
  ['was ended 2 times', (good) => withHandled(good, twice)],
]

describe.skipIf(lacks('git') || lacks('python3'))('the check of what pushes have led to', () => {
  const at = usePublisher({ settings: { labels: ['chaos'] } })
  let good: History
  beforeAll(async () => {
    const { publisher } = at
    const { github, ledger, inbox } = publisher
    const repository = await publisher.addRepository('pushed')
    // Nobody works on what a bot pushes; the run that is played is of the same commit.
    await repository.humanCommit('main', { 'c.py': 'c = 1\n' }, { by: 'helper[bot]' })
    await publisher.takeAll()
    const files = { 'a.py': 'a = 1\n', 'b.py': 'b = 1\n', 'c.py': 'c = 1\n', 'README.md': '# Shop\n' }
    const runId = await at.play({ repository, changes, files })
    await publisher.settle(runId)
    repository.comment(1, 'well done')
    await publisher.takeAll()
    await publisher.settle(runId)
    const proposed = `${await repository.git(['diff', 'main', 'remora/main'])}\n`
    const run = await ledger.getRun(runId)
    const deliveries = () => github.webhooks.deliveries.filter(({ repositoryId }) => repositoryId === repository.id)
    const stack = { ledger, inbox, api: { ask: async () => new Response(proposed) } }
    good = { pushed: { repository, deliveries }, run, runs: [run], stack, proposed }
  })

  it('finds nothing in a good history', async () => {
    const { pushed, runs, stack } = good
    expect(await stateOfPushes(pushed, stack)).toMatchObject({ open: [], runs: [{ runId: runs[0]?.runId }] })
    expect(await checkPushes(pushed, runs, stack)).toEqual([])
  })

  it.each(wrong)('names in a tampered one: %s', async (what, tamper) => {
    const { pushed, runs, stack } = { ...good, ...tamper(good) }
    const found = await checkPushes(pushed, runs, stack)
    expect(found.map((one) => one.startsWith('acme/pushed: '))).not.toContain(false)
    expect(found.join('\n')).toContain(what)
  })

  it('sees what is not settled', async () => {
    const { pushed, stack } = { ...good, ...withHandled(good, () => []) }
    expect((await stateOfPushes(pushed, stack)).open.join('\n')).toContain('was not handled')
  })
})
