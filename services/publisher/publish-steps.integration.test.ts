import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RunId } from '#domain/ids.ts'
import type { Moment } from '#testing/fake-github/network-faults.ts'
import { anEvent } from '#testing/open-test-ledger.ts'
import { lacks } from '#testing/this-machine.ts'
import { type PlayedRun, playPublishable } from './published-run.fixture.ts'
import { openTestPublisher, type TestPublisher } from './test-publisher.fixture.ts'

const played: PlayedRun = {
  changes: [
    { name: 'one', path: 'a.py', from: '1', to: '2' },
    { name: 'two', agent: 'docstring', path: 'b.py', from: '1', to: '3' },
  ],
  findings: 60,
}

describe.skipIf(lacks('git'))('a publication', { timeout: 120_000 }, () => {
  let publisher: TestPublisher
  let repositories = 0
  beforeAll(async () => {
    publisher = await openTestPublisher({ settings: { labels: ['remora'], reviewers: ['ada'] } })
    await publisher.takeAll()
  })
  afterAll(() => publisher.close())

  async function newRun() {
    const repository = await publisher.addRepository(`shop${++repositories}`)
    return { repository, runId: await playPublishable(publisher, { ...played, repository }) }
  }
  type Repository = Awaited<ReturnType<typeof newRun>>['repository']

  async function expectPublishedOnce(runId: RunId, repository: Repository): Promise<void> {
    const publication = await publisher.publicationOf(runId)
    const [pull, ...others] = repository.pulls()
    expect(others).toEqual([])
    expect(pull).toMatchObject({ state: 'open', labels: ['remora'], reviewers: ['ada'], head: { ref: 'remora/main' } })
    expect(publication).toMatchObject({ fault: null, isSettled: true, pulls: [{ number: 1, head: pull?.head.sha }] })
    expect(await repository.branches()).toEqual(['main', 'remora/main'])
    expect(await repository.commits('main..remora/main')).toHaveLength(2)
    expect(await repository.git(['diff', '--stat', 'main', 'remora/main'])).toContain('2 files changed')
    expect(await repository.read('remora/main', 'a.py')).toBe('a = 2\n')
    expect(await repository.read('remora/main', 'b.py')).toBe('b = 3\n')
    const [check, ...checks] = repository.checkRuns()
    expect(checks).toEqual([])
    expect(check).toMatchObject({ status: 'completed', conclusion: 'neutral', externalId: runId })
    expect(new Set(check?.annotations.map(({ message }) => message)).size).toBe(60)
    expect(check?.annotations).toHaveLength(60)
    expect(repository.comments()).toEqual([])
  }

  it('is made once by a publisher that is killed before each of its writes, again and again', async () => {
    const { runId, repository } = await newRun()
    for (let died = true, fatal = 1; died; fatal++) {
      let writes = 0
      const isMeant = ({ method, when }: Moment) => method !== 'GET' && when === 'before' && ++writes === fatal
      died = await publisher.dieAt(runId, isMeant)
    }
    await expectPublishedOnce(runId, repository)
  })

  it.each([
    ['POST', /^\/graphql$/],
    ['POST', /pulls$/],
    ['POST', /labels$/],
    ['POST', /requested_reviewers$/],
    ['POST', /check-runs$/],
    ['PATCH', /check-runs\/\d+$/],
  ])('is made once by one that is killed after the effect of %s %s, and does not know of it', async (method, path) => {
    const { runId, repository } = await newRun()
    const isMeant = (moment: Moment) => moment.method === method && path.test(moment.path) && moment.when === 'after'
    expect(await publisher.dieAt(runId, isMeant)).toBe(true)
    await publisher.settle(runId)
    await expectPublishedOnce(runId, repository)
  })

  it.each(['max_open_pulls', 'max_pulls_per_day'])(
    'has no more pull requests than %s says, and goes on with the one that is there',
    async (limit) => {
      const settings = `github: { per_agent: true, ${limit}: 1 }\n`
      const files = { 'a.py': 'a = 1\n', 'b.py': 'b = 1\n', 'remora.yaml': settings }
      const repository = await publisher.addRepository(`shop${++repositories}`, files)
      const runId = await playPublishable(publisher, { changes: played.changes, files, repository })
      for (let looks = 0; looks < 4; looks++) await publisher.look(runId)
      const [pull, ...others] = repository.pulls()
      expect(others).toEqual([])
      const fault = { errorCode: 'PUBLISH_003', reason: expect.stringContaining(`github.${limit}`) }
      expect(await publisher.publicationOf(runId)).toMatchObject({ fault, pulls: [{ number: 1 }] })
      expect(await repository.branches()).toEqual(['main', pull?.head.ref])
      const head = await repository.tip(pull?.head.ref ?? '')
      await repository.humanCommit('main', { 'c.py': 'c = 1\n' })
      const later = await playPublishable(publisher, { changes: played.changes, files, repository })
      for (let looks = 0; looks < 4; looks++) await publisher.look(later)
      expect(repository.pulls()).toHaveLength(1)
      expect(await repository.tip(pull?.head.ref ?? '')).not.toBe(head)
    },
  )

  /** A run that goes on. */
  async function pushedRun() {
    const repository = await publisher.addRepository(`shop${++repositories}`)
    await repository.humanCommit('main', { 'c.py': 'c = 1\n' })
    await publisher.takeAll()
    const handled = await publisher.inbox.listHandled(100)
    const ofRun = handled.find((one) => one.outcome === 'run' && one.repository === repository.fullName)
    return { repository, runId: RunId.parse(ofRun?.runId) }
  }

  it('has one check run where the queue gives its run to two at once', async () => {
    const { repository, runId } = await pushedRun()
    await Promise.all([publisher.look(runId), publisher.look(runId)])
    expect(repository.checkRuns()).toMatchObject([{ status: 'queued', externalId: runId }])
  })

  it('of an installation with much to publish, on a slow GitHub, does not keep those of another one waiting', async () => {
    const slow = [await newRun(), await newRun(), await newRun()]
    const [, , waiting] = slow
    if (waiting === undefined) throw new Error('there are three')
    const end = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    let requests = 0
    publisher.github.watch(async () => {
      if (++requests === 2) asked.resolve()
      await end.promise
    })
    const looks = slow.slice(0, 2).map(({ runId }) => publisher.look(runId))
    await asked.promise
    await publisher.look(waiting.runId)
    expect(requests).toBe(2)
    expect(await publisher.host().publishing.due(Date.now(), 100)).not.toContain(waiting.runId)
    expect(await publisher.host().publishing.due(Date.now() + 3_000, 100)).toContain(waiting.runId)
    publisher.github.watch(() => {})
    const other = await publisher.github.addRepository({
      owner: 'umbrella',
      name: 'shop',
      files: { 'a.py': 'a = 1\n' },
    })
    const { id: installationId } = publisher.github.install({ account: 'umbrella' })
    await publisher.takeAll()
    const source = { installationId }
    const runId = await playPublishable(publisher, { ...played, repository: other, source })
    await publisher.look(runId)
    const asksOf = (name: string) => publisher.github.requests.filter(({ path }) => path.startsWith(`/repos/${name}/`))
    expect([asksOf(other.fullName).length > 0, asksOf(waiting.repository.fullName)]).toEqual([true, []])
    end.resolve()
    await Promise.all(looks)
    await publisher.look(waiting.runId)
    expect(asksOf(waiting.repository.fullName)).not.toEqual([])
  })

  it('tells of progress at most every ten seconds', async () => {
    const { repository, runId } = await pushedRun()
    await publisher.look(runId)
    const events = [anEvent({ event: 'run.started' })]
    const started = { from: [{ status: 'queued' }], command: 'start', events } as const
    await publisher.ledger.move(runId, { ...started, to: { status: 'running', phase: 'planning' } })
    await publisher.look(runId)
    expect(repository.checkRuns()).toMatchObject([{ status: 'in_progress' }])
    const again = { from: [{ status: 'running' }], to: { phase: 'execution' }, command: 'plan', events: [] } as const
    await publisher.ledger.move(runId, again)
    const before = publisher.github.requests.length
    await publisher.look(runId)
    const written = publisher.github.requests.slice(before).filter(({ path }) => path.includes('check-runs'))
    expect(written).toEqual([])
    expect(await publisher.host().publishing.due(Date.now() + 9_000, 100)).not.toContain(runId)
    expect(await publisher.host().publishing.due(Date.now() + 11_000, 100)).toContain(runId)
  })
})
