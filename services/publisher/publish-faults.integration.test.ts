import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import type { Fault } from '#testing/fake-github/network-faults.ts'
import { type PlayedRun, playPublishable } from './published-run.fixture.ts'
import { openTestPublisher, type TestPublisher } from './test-publisher.fixture.ts'

const changes: PlayedRun['changes'] = [{ name: 'one', path: 'a.py', from: '1', to: '2' }]
/** Longer than any answer takes on a busy machine. */
const requestMs = 6_000

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
  ['the branch', { method: 'POST', path: /git\/refs$/ }],
  ['the pull request', { method: 'POST', path: /pulls$/ }],
  ['the check run', { method: 'POST', path: /check-runs$/ }],
]

describe.skipIf(lacks('git'))('where GitHub does not answer as it should', () => {
  let publisher: TestPublisher
  let repository: TestPublisher['repository']
  let count = 0
  beforeAll(async () => {
    publisher = await openTestPublisher({ requestMs })
    await publisher.takeAll()
  })
  afterAll(() => publisher.close())
  beforeEach(async () => {
    repository = await publisher.addRepository(`shop${++count}`)
  })
  afterEach(() => publisher.github.faults.clear())

  const cases = faults.flatMap((fault) => {
    const name = 'status' in fault ? `an answer ${fault.status}` : `the fault ${fault.how}`
    const least = fault.how.startsWith('reset') ? 0 : 2
    // A check run that GitHub makes after it was looked for is one more, which nothing can prevent.
    const most = fault.how === 'slow' ? 3 : 4
    return places.slice(least, most).map(([place, of]) => ({ name, place, fault: { ...fault, ...of } }))
  })
  it.each(cases)('$name for $place: it is made once, a little later', async ({ fault }) => {
    publisher.github.faults.add(fault)
    const runId = await playPublishable(publisher, { changes, repository })
    await publisher.settle(runId)
    expect(await publisher.publicationOf(runId)).toMatchObject({ fault: null, isSettled: true, pulls: [{ number: 1 }] })
    expect(repository.pulls()).toHaveLength(1)
    expect(repository.checkRuns()).toMatchObject([{ status: 'completed' }])
    expect(await repository.branches()).toEqual(['main', 'remora/main'])
  })

  it('a publisher that starts meanwhile waits until it knows which app it is', async () => {
    publisher.github.faults.add({ how: 'status', status: 503, path: /^\/app$/ })
    const runId = await playPublishable(publisher, { changes, repository })
    await publisher.startAgain()
    await publisher.settle(runId)
    expect(repository.pulls()).toHaveLength(1)
  })

  it('a limit of an hour is not waited for, and costs few requests until it is over', async () => {
    const runId = await playPublishable(publisher, { changes, repository })
    publisher.github.rateLimit.set(0)
    const before = publisher.github.requests.length
    for (let looks = 0; looks < 3; looks++) await publisher.look(runId)
    expect(publisher.github.requests.length - before).toBeLessThan(7)
    expect(await publisher.publicationOf(runId)).toBeNull()
    publisher.github.rateLimit.set(5_000)
    await publisher.settle(runId)
    expect(repository.pulls()).toHaveLength(1)
  })
})
