import { afterEach, describe, expect, it } from 'vitest'
import { RunId } from '#domain/ids.ts'
import { anEvent } from '#testing/open-test-ledger.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import type { Fault } from '#testing/fake-github/network-faults.ts'
import { takeWaiting } from './deliveries/take-deliveries.ts'
import { type PlayedRun, usePublisher } from './published-run.fixture.ts'

const changes: PlayedRun['changes'] = [{ name: 'one', path: 'a.py', from: '1', to: '2' }]
/** An answer of the fake GitHub takes some milliseconds. */
const requestMs = 3_000

const faults: Fault[] = [
  { how: 'reset_before' },
  { how: 'reset_after' },
  { how: 'status', status: 500 },
  { how: 'status', status: 502 },
  { how: 'status', status: 429, retryAfterSeconds: 1 },
  { how: 'secondary_limit', retryAfterSeconds: 1 },
  { how: 'slow', ms: requestMs + 500 },
]
const places: [string, Pick<Fault, 'method' | 'path'>][] = [
  ['a token', { method: 'POST', path: /access_tokens$/ }],
  ['the branch', { path: /^\/graphql$/ }],
  ['the pull request', { method: 'POST', path: /pulls$/ }],
  ['the check run', { method: 'POST', path: /check-runs$/ }],
]

describe.skipIf(lacks('git'))('where GitHub does not answer as it should', () => {
  const at = usePublisher({ requestMs })
  afterEach(() => at.publisher.github.faults.clear())

  /** Looks at the run until its publication is as it should be. */
  const lookUntil = (
    runId: string,
    holds: (publication: Awaited<ReturnType<typeof at.publisher.publicationOf>>) => boolean,
  ) =>
    until(
      async () => {
        await at.publisher.look(runId)
        return at.publisher.publicationOf(runId)
      },
      { holds },
    )

  const cases = faults.flatMap((fault) => {
    const name = 'status' in fault ? `an answer ${fault.status}` : `the fault ${fault.how}`
    const least = fault.how.startsWith('reset') ? 0 : 2
    // A check run that GitHub makes after it was looked for is one more, which nothing can prevent.
    const most = fault.how === 'slow' ? 3 : 4
    return places.slice(least, most).map(([place, of]) => ({ name, place, fault: { ...fault, ...of } }))
  })
  const failedQuery = { how: 'failed_query', path: /^\/graphql$/ } as const
  cases.push({ name: 'an answer 200 that says that something went wrong', place: 'the branch', fault: failedQuery })
  it.each(cases)('$name for $place: it is made once, a little later', async ({ fault }) => {
    at.publisher.github.faults.add(fault)
    const runId = await at.play({ changes })
    await at.publisher.settle(runId)
    expect(at.publisher.github.faults.planned).toMatchObject([{ left: 0 }])
    expect(await at.publisher.publicationOf(runId)).toMatchObject({
      fault: null,
      isSettled: true,
      pulls: [{ number: 1 }],
    })
    expect(at.repository.pulls()).toHaveLength(1)
    expect(at.repository.checkRuns()).toMatchObject([{ status: 'completed' }])
    expect(await at.repository.branches()).toEqual(['main', 'remora/main'])
  })

  it('a publisher that starts meanwhile waits until it knows which app it is', async () => {
    at.publisher.github.faults.add({ how: 'status', status: 503, path: /^\/app$/ })
    const runId = await at.play({ changes })
    await at.publisher.startAgain()
    await at.publisher.settle(runId)
    expect(at.repository.pulls()).toHaveLength(1)
  })

  it('a check run that GitHub makes late is not left in the queue', async () => {
    await at.publisher.takeAll()
    await at.repository.humanCommit('main', { 'c.py': 'c = 1\n' })
    await at.publisher.takeAll()
    const handled = await at.publisher.inbox.listHandled(100)
    const runId = RunId.parse(
      handled.find((one) => one.outcome === 'run' && one.repository === at.repository.fullName)?.runId,
    )
    const late = Promise.withResolvers<void>()
    at.publisher.github.watch(async ({ method, path, when }) => {
      if (method !== 'POST' || !path.endsWith('/check-runs') || when === 'after') return
      at.publisher.github.watch(() => {})
      await late.promise
    })
    await at.publisher.look(runId)
    await at.publisher.look(runId)
    expect(at.repository.checkRuns()).toHaveLength(1)
    late.resolve()
    await until(() => at.repository.checkRuns(), { holds: ({ length }) => length === 2 })
    const failed = {
      from: [{ status: 'queued' }],
      command: 'fail',
      events: [anEvent({ event: 'run.failed' })],
    } as const
    await at.publisher.ledger.move(runId, { ...failed, to: { status: 'failed' } })
    await at.publisher.settle(runId)
    expect(at.repository.checkRuns().map(({ conclusion }) => conclusion)).toEqual(['skipped', 'failure'])
  })

  it('a limit of an hour is not waited for, and nothing more is asked until it is over', async () => {
    const { rateLimit, requests } = at.publisher.github
    const runs = [await at.play({ changes }), await at.play({ changes })]
    rateLimit.set(0, { endsInMs: 3_600_000 })
    const before = requests.length
    for (let looks = 0; looks < 3; looks++) for (const runId of runs) await at.publisher.look(runId)
    await at.repository.humanCommit('main', { 'c.py': 'c = 3\n' })
    await at.publisher.github.webhooks.settled()
    await takeWaiting(at.publisher.host().handling)
    // The limits of the app and of its installation.
    expect(requests.length - before).toBeLessThanOrEqual(2)
    const dueIn = (ms: number) => at.publisher.host().publishing.due(Date.now() + ms, 100)
    expect(await dueIn(50 * 60_000)).not.toEqual(expect.arrayContaining(runs))
    expect(await dueIn(62 * 60_000)).toEqual(expect.arrayContaining(runs))
    rateLimit.set(5_000)
    const [, runId = ''] = runs
    await lookUntil(runId, (publication) => publication !== null)
    await at.publisher.settle(runId)
    expect(at.repository.pulls()).toHaveLength(1)
  })

  it('a limit that is reached at the write of the branch is waited for', async () => {
    const { github } = at.publisher
    const runId = await at.play({ changes })
    let isReached = false
    github.watch(({ path, when }) => {
      if (path !== '/graphql' || when === 'after') return
      isReached = true
      github.rateLimit.set(0, { endsInMs: 3_600_000 })
    })
    await until(async () => {
      await at.publisher.look(runId)
      return isReached
    })
    github.watch(() => {})
    expect(await at.repository.branches()).toEqual(['main'])
    const before = github.requests.length
    await at.publisher.look(runId)
    expect(github.requests.length).toBe(before)
    github.rateLimit.set(5_000)
    await lookUntil(runId, (publication) => publication?.isSettled === true)
    expect(at.repository.pulls()).toHaveLength(1)
  })

  it('an outage of two days is not believed: after an hour it is asked again', async () => {
    const { faults: planned, requests } = at.publisher.github
    planned.add({ how: 'status', status: 503, path: /pulls/, retryAfterSeconds: 2 * 86_400 })
    const runId = await at.play({ changes })
    for (let looks = 0; looks < 3; looks++) await at.publisher.look(runId)
    const before = requests.length
    await at.publisher.look(runId)
    expect(requests.length).toBe(before)
    // In this test an hour is 3.6 s.
    await lookUntil(runId, () => requests.length > before)
    await at.publisher.settle(runId)
    expect(at.repository.pulls()).toHaveLength(1)
  })
})

describe.skipIf(lacks('git'))('a publisher that has lost the right to go on', () => {
  const at = usePublisher({ leaseMs: 600 })

  it.each(['the run', 'the repository'])('to %s writes nothing more, and it is done later', async (what) => {
    const { github } = at.publisher
    const runId = await at.play({ changes })
    let giveBack: (() => Promise<void>) | undefined
    github.watch(async ({ path, when }) => {
      if (path !== '/graphql' || when === 'before') return
      github.watch(() => {})
      giveBack = await at.publisher.takeLease(what === 'the run' ? runId : at.repository.id)
    })
    await at.publisher.settle(runId).catch(() => {})
    expect(await at.repository.branches()).toEqual(['main', 'remora/main'])
    expect([at.repository.pulls(), at.repository.checkRuns()]).toEqual([[], []])
    await giveBack?.()
    await at.publisher.settle(runId)
    expect(at.repository.pulls()).toHaveLength(1)
    expect(at.repository.checkRuns()).toMatchObject([{ status: 'completed' }])
  })
})
