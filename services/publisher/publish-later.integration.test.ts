import { afterEach, describe, expect, it, vi } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { type PlayedRun, usePublisher } from './published-run.fixture.ts'

const hourMs = 3_600_000
const changes: PlayedRun['changes'] = [{ name: 'one', path: 'a.py', from: '1', to: '2' }]
const other: PlayedRun['changes'] = [{ name: 'two', path: 'b.py', from: '1', to: '3' }]
const third: PlayedRun['changes'] = [{ name: 'three', path: 'README.md', from: 'Shop', to: 'The shop' }]

describe.skipIf(lacks('git'))('what cannot be published now', () => {
  const at = usePublisher({ settings: { maxOpenPulls: 1 } })
  afterEach(() => {
    vi.useRealTimers()
  })
  const laterBy = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  const publicationOf = async (runId: Awaited<ReturnType<typeof at.play>>) => at.publisher.publicationOf(runId)
  const dueIn = (ms: number) => at.publisher.host().publishing.due(Date.now() + ms, 1_000)
  const openPulls = () => at.repository.pulls().filter(({ state }) => state === 'open')

  async function heldRuns() {
    const source = { branch: 'release', ref: 'refs/heads/release' }
    await at.repository.git(['branch', 'release', 'main'])
    await at.published({ changes, source })
    const held = await at.play({ changes: other })
    for (let looks = 0; looks < 3; looks++) await at.publisher.look(held)
    expect(await publicationOf(held)).toMatchObject({
      fault: { errorCode: 'PUBLISH_003' },
      pulls: [],
      isSettled: false,
    })
    expect(await dueIn(31 * 60_000)).toContain(held)
    return { held }
  }

  it('since there are as many pull requests as there may be is published when there is room', async () => {
    const { held } = await heldRuns()
    await at.repository.mergePull(1)
    await at.publisher.takeAll()
    await at.publisher.settle(held)
    expect(await publicationOf(held)).toMatchObject({ fault: null, pulls: [{ state: 'open' }] })
    expect(openPulls()).toHaveLength(1)
  })

  it('is given to the run of a later push that has found room before', async () => {
    const { held } = await heldRuns()
    await at.repository.mergePull(1)
    await at.publisher.takeAll()
    const later = await at.published({ changes: third })
    await at.publisher.settle(held)
    await at.publisher.settle(later)
    expect(await publicationOf(held)).toMatchObject({ fault: null, pulls: [] })
    const check = at.repository.checkRuns().find(({ externalId }) => externalId === held)
    // What is in the pull request in the end only that run knows.
    const why = `run ${later}, of a later push, takes over what is accepted here, as far as it still fits`
    expect(check?.output.summary).toContain(`Nothing is published: ${why}.`)
    expect(openPulls()).toHaveLength(1)
    expect(await at.repository.read('remora/main', 'b.py')).toBe('b = 3\n')
    expect(await at.repository.read('remora/main', 'README.md')).toBe('# The shop\n')
  })

  it('since there is no room is not waited for without end', async () => {
    const { held } = await heldRuns()
    laterBy(8 * 24 * hourMs)
    await at.publisher.look(held)
    expect(await publicationOf(held)).toMatchObject({ fault: { errorCode: 'PUBLISH_003' }, isSettled: true })
    expect(await dueIn(48 * hourMs)).not.toContain(held)
  })
})

describe.skipIf(lacks('git'))('what fails as nobody has foreseen', () => {
  // The schema would have refused it.
  const at = usePublisher({ settings: { schedule: ['every monday'] } })
  afterEach(() => void vi.useRealTimers())

  it('is tried for an hour, and then fails, and the check run says so', async () => {
    const runId = await at.play({ changes })
    const dueIn = (ms: number) => at.publisher.host().publishing.due(Date.now() + ms, 1_000)
    await at.publisher.look(runId)
    expect(await dueIn(hourMs)).toContain(runId)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + hourMs + 1 })
    await at.publisher.look(runId)
    const fault = { errorCode: 'HTTP_007', reason: expect.stringContaining('no cron pattern') }
    expect(await at.publisher.publicationOf(runId)).toMatchObject({ fault, isSettled: true })
    expect(at.repository.checkRuns()).toMatchObject([{ status: 'completed', conclusion: 'failure' }])
    expect(await dueIn(48 * hourMs)).not.toContain(runId)
  })
})

// With a publisher of its own: a clock that goes back holds up its requests.
describe.skipIf(lacks('git'))('what GitHub does not take', () => {
  const at = usePublisher()
  afterEach(() => void vi.useRealTimers())
  const laterBy = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })
  const publicationOf = async (runId: Awaited<ReturnType<typeof at.play>>) => at.publisher.publicationOf(runId)
  const dueIn = (ms: number) => at.publisher.host().publishing.due(Date.now() + ms, 1_000)

  it('without the permission to write check runs the pull request is there, and nothing is tried again', async () => {
    const runId = await at.play({ changes })
    at.publisher.github.faults.add({ how: 'status', status: 403, path: /\/check-runs$/, times: 50 })
    await at.publisher.settle(runId)
    at.publisher.github.faults.clear()
    expect(await publicationOf(runId)).toMatchObject({ fault: { errorCode: 'HOST_003' }, pulls: [{ number: 1 }] })
  })

  it('while GitHub is away is tried for a day, and then fails with its reason', async () => {
    const runId = await at.play({ changes })
    at.publisher.github.faults.add({ how: 'status', status: 500, path: /pulls/, times: 1_000 })
    await at.publisher.look(runId)
    laterBy(23 * hourMs)
    await at.publisher.look(runId)
    expect((await publicationOf(runId))?.fault).toBeFalsy()
    expect(await dueIn(9 * 60_000)).not.toContain(runId)
    expect(await dueIn(11 * 60_000)).toContain(runId)
    laterBy(2 * hourMs)
    await at.publisher.look(runId)
    expect(await publicationOf(runId)).toMatchObject({ fault: { errorCode: 'HOST_001' }, isSettled: true })
    expect(at.repository.checkRuns()).toMatchObject([{ status: 'completed', conclusion: 'failure' }])
    expect(await dueIn(48 * hourMs)).not.toContain(runId)
    at.publisher.github.faults.clear()
    await at.publisher.host().publishing.look(runId, Date.now())
    await at.publisher.settle(runId)
    expect(await publicationOf(runId)).toMatchObject({ fault: null, pulls: [{ state: 'open' }] })
  })
})
