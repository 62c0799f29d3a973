import { beforeAll, describe, expect, it } from 'vitest'
import { RunId } from '#domain/ids.ts'
import type { PublishedPull } from '#domain/publication.ts'
import type { Run } from '#domain/run.ts'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from '../../services/publisher/published-run.fixture.ts'
import { checkPushes, type Pushed, type PushStack, stateOfPushes } from './check-pushes.ts'

type History = { pushed: Pushed; run: Run; runs: readonly Run[]; stack: PushStack; proposed: string }
type Tampering = (good: History) => Partial<History>

const otherId = RunId.parse('r0000000000')
const otherCommit = 'f'.repeat(40)
const changes = [
  { name: 'one', path: 'a.py', from: '1', to: '2' },
  { name: 'two', path: 'b.py', from: '1', to: '3' },
]

/** The repository as it is, but for some of what is read of it. */
function withRepository({ pushed }: History, other: Partial<Pushed['repository']>): Partial<History> {
  return { pushed: { ...pushed, repository: { ...pushed.repository, ...other } } }
}

function withRun({ run }: History, other: Partial<Run>): Partial<History> {
  return { runs: [{ ...run, ...other }] }
}

function withPublication(good: History, other: Partial<NonNullable<Run['publication']>>): Partial<History> {
  const { publication } = good.run
  return withRun(good, { publication: publication && { ...publication, ...other } })
}

function withPull(good: History, other: Partial<PublishedPull>): Partial<History> {
  const pulls = good.run.publication?.pulls ?? []
  return withPublication(good, { pulls: pulls.map((pull) => ({ ...pull, ...other })) })
}

function withPatch({ stack, proposed }: History, of: 'proposed' | 'accepted', patch: string): Partial<History> {
  const ask = async (path: string) => new Response(path.endsWith(of) ? patch : proposed)
  return { stack: { ...stack, api: { ask } } }
}

/** The ledger knows the run in this state. */
function withLedger({ stack, run }: History, other: Partial<Run>): Partial<History> {
  const getRun = async () => ({ ...run, ...other })
  return { stack: { ...stack, ledger: { ...stack.ledger, getRun } } }
}

const atHost: [string, Tampering][] = [
  ['2 pull requests are open', (good) => withRepository(good, { pulls: () => twice(good.pushed.repository.pulls()) })],
  ['2 changes are in no pull request', (good) => withRepository(good, { pulls: () => [] })],
  [
    'it is of the branch main',
    (good) => withRepository(good, { pulls: () => changed(good.pushed.repository.pulls(), { head: headOf('main') }) }),
  ],
  [
    'its labels are mine',
    (good) => withRepository(good, { pulls: () => changed(good.pushed.repository.pulls(), { labels: ['mine'] }) }),
  ],
  [
    'a check run was made of',
    (good) => withRepository(good, { checkRuns: () => twice(good.pushed.repository.checkRuns()) }),
  ],
  [
    `its check run is of ${otherId}`,
    (good) =>
      withRepository(good, {
        checkRuns: () => changed(good.pushed.repository.checkRuns(), { externalId: otherId }),
      }),
  ],
  ['#1 changes nothing', (good) => withRepository(good, { git: unchanged(good) })],
  ['its check run is of no run', (good) => withRepository(good, { checkRuns: () => [] })],
  [
    'it was commented on #1: well done 2 times',
    (good) => withRepository(good, { comments: () => twice(good.pushed.repository.comments()) }),
  ],
  ['it is not on top of the head', (good) => withRepository(good, { git: mergedElsewhere(good) })],
  [`it is at ${otherCommit}, and noted as`, (good) => withRepository(good, { tip: tipOf(good, otherCommit) })],
]

const inRuns: [string, Tampering][] = [
  ['it has no run', () => ({ runs: [] })],
  ['has #1 as merged, and it is open', (good) => withPull(good, { state: 'merged' })],
  ['was worked on 2 times', ({ run }) => ({ runs: [run, { ...run, runId: otherId }] })],
  ['its run is failed: DISC_001 too large', (good) => withRun(good, failed)],
  [
    'not published: {"errorCode":"PUBLISH_001"',
    (good) => withPublication(good, { fault: { errorCode: 'PUBLISH_001', reason: 'a link', at: 1 } }),
  ],
  ['and noted as undefined', (good) => withPublication(good, { pulls: [] })],
  ['and noted as {', (good) => withPull(good, { base: otherCommit })],
  [
    'it has not the changes',
    (good) => withPull(good, { changeSetIds: [], carried: [{ runId: otherId, changeSetIds: ['c1'] }] }),
  ],
  ['its a.py is', (good) => withPatch(good, 'accepted', good.proposed.replace('+a = 2', '+a = 9'))],
  ['its b.py is', (good) => withPatch(good, 'accepted', '')],
  ['git apply', (good) => withPatch(good, 'proposed', good.proposed.replace('-a = 1', '-a = 7'))],
  ['the patched source does not parse', (good) => withPatch(good, 'proposed', good.proposed.replace('+a = 2', '+a ='))],
]

const inInbox: [string, Tampering][] = [
  ['was ended 2 times', ({ stack }) => withHandled(stack, twice)],
  [
    'a webhook failed: CONFIG_003 wrong',
    ({ stack }) => withHandled(stack, (all) => changed(all, { outcome: 'failed', reason: 'CONFIG_003 wrong' })),
  ],
]

const unsettled: [string, Tampering][] = [
  ['was not handled', ({ stack }) => withHandled(stack, () => [])],
  [
    '3 webhooks are left in the inbox',
    ({ stack }) => ({
      stack: { ...stack, inbox: { ...stack.inbox, backlog: async () => ({ count: 3, oldestAt: 1 }) } },
    }),
  ],
  ['did not end', (good) => withLedger(good, { status: 'running' })],
  ['the publication of run', (good) => withLedger(good, { publication: null })],
  [
    'is in_progress',
    (good) =>
      withRepository(good, { checkRuns: () => changed(good.pushed.repository.checkRuns(), { status: 'in_progress' }) }),
  ],
]

function withHandled(
  stack: PushStack,
  change: (all: Awaited<ReturnType<PushStack['inbox']['listHandled']>>) => typeof all,
): Partial<History> {
  const listHandled = async (count: number) => change(await stack.inbox.listHandled(count))
  return { stack: { ...stack, inbox: { ...stack.inbox, listHandled } } }
}

const failed = { status: 'failed', errorCode: 'DISC_001', reason: 'too large' } as const
const headOf = (ref: string) => ({ ref, sha: otherCommit })
const twice = <T>(all: readonly T[]): T[] => [...all, ...all]
const changed = <T extends object>(all: readonly T[], other: Partial<T>): T[] =>
  all.map((one) => ({ ...one, ...other }))

/** Another commit is on the branches that the publisher writes. */
function tipOf({ pushed: { repository } }: History, commit: string) {
  return async (branch: string) => (branch.startsWith('remora/') ? commit : repository.tip(branch))
}

/** Git finds no difference between two branches. */
function unchanged({ pushed: { repository } }: History) {
  return async (args: readonly string[]) => (args[0] === 'diff' ? '' : repository.git(args))
}

/** Git finds that the branches have parted before the head. */
function mergedElsewhere({ pushed: { repository } }: History) {
  return async (args: readonly string[]) => (args[0] === 'merge-base' ? otherCommit : repository.git(args))
}

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
  const tampered = (tamper: Tampering): History => ({ ...good, ...tamper(good) })

  it('finds nothing in a good history', async () => {
    const { pushed, runs, stack } = good
    expect(await stateOfPushes(pushed, stack)).toMatchObject({ open: [], runs: [{ runId: runs[0]?.runId }] })
    expect(await checkPushes(pushed, runs, stack)).toEqual([])
  })

  it.each([...atHost, ...inRuns, ...inInbox])('names in a tampered one: %s', async (what, tamper) => {
    const { pushed, runs, stack } = tampered(tamper)
    const found = await checkPushes(pushed, runs, stack)
    expect(found.map((one) => one.startsWith('acme/pushed: '))).not.toContain(false)
    expect(found.join('\n')).toContain(what)
  })

  it.each(unsettled)('sees what is not settled: %s', async (what, tamper) => {
    const { pushed, stack } = tampered(tamper)
    expect((await stateOfPushes(pushed, stack)).open.join('\n')).toContain(what)
  })
})
