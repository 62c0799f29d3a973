import { describe, expect, it, vi } from 'vitest'
import { RunId } from '#domain/ids.ts'
import { runKeys } from '#store/ledger/keys.ts'
import type { Moment } from '#testing/fake-github/network-faults.ts'
import { anEvent, endRun } from '#testing/open-test-ledger.ts'
import { lacks } from '#testing/this-machine.ts'
import { type PlayedRun, usePublisher } from './published-run.fixture.ts'

const played: PlayedRun = {
  changes: [
    { name: 'one', path: 'a.py', from: '1', to: '2' },
    { name: 'two', agent: 'docstring', path: 'b.py', from: '1', to: '3' },
  ],
  findings: 60,
}

describe.skipIf(lacks('git'))('a publication', { timeout: 120_000 }, () => {
  const at = usePublisher({ settings: { labels: ['remora'], reviewers: ['ada'] } })

  async function expectPublishedOnce(runId: RunId): Promise<void> {
    const { publisher, repository } = at
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
    const runId = await at.play(played)
    for (let died = true, fatal = 1; died; fatal++) {
      let writes = 0
      const isMeant = ({ method, path, when }: Moment) => {
        // Octokit makes a token once for all who ask in one process, so that the next one would wait for what the dead one asked.
        if (method === 'GET' || path.endsWith('/access_tokens')) return false
        return when === 'before' && ++writes === fatal
      }
      died = await at.publisher.dieAt(runId, isMeant)
    }
    await expectPublishedOnce(runId)
  })

  it.each([
    ['POST', /^\/graphql$/],
    ['POST', /pulls$/],
    ['POST', /labels$/],
    ['POST', /requested_reviewers$/],
    ['POST', /check-runs$/],
    ['PATCH', /check-runs\/\d+$/],
  ])('is made once by one that is killed after the effect of %s %s, and does not know of it', async (method, path) => {
    const runId = await at.play(played)
    const isMeant = (moment: Moment) => moment.method === method && path.test(moment.path) && moment.when === 'after'
    expect(await at.publisher.dieAt(runId, isMeant)).toBe(true)
    await at.publisher.settle(runId)
    await expectPublishedOnce(runId)
  })

  it.each(['max_open_pulls', 'max_pulls_per_day'])(
    'has no more pull requests than %s says, and goes on with the one that is there',
    async (limit) => {
      const settings = `github: { per_agent: true, ${limit}: 1 }\n`
      const files = { 'a.py': 'a = 1\n', 'b.py': 'b = 1\n', 'remora.yaml': settings }
      const { publisher } = at
      const repository = await publisher.addRepository(`shop-${limit}`, files)
      const runId = await at.play({ changes: played.changes, files, repository })
      for (let looks = 0; looks < 4; looks++) await publisher.look(runId)
      const [pull, ...others] = repository.pulls()
      expect(others).toEqual([])
      const fault = { errorCode: 'PUBLISH_003', reason: expect.stringContaining(`github.${limit}`) }
      expect(await publisher.publicationOf(runId)).toMatchObject({ fault, pulls: [{ number: 1 }] })
      expect(await repository.branches()).toEqual(['main', pull?.head.ref])
      const head = await repository.tip(pull?.head.ref ?? '')
      await repository.humanCommit('main', { 'c.py': 'c = 1\n' })
      const later = await at.play({ changes: played.changes, files, repository })
      for (let looks = 0; looks < 4; looks++) await publisher.look(later)
      expect(repository.pulls()).toHaveLength(1)
      expect(await repository.tip(pull?.head.ref ?? '')).not.toBe(head)
    },
  )

  /** A run that goes on. */
  async function pushedRun() {
    const { publisher, repository } = at
    await repository.humanCommit('main', { 'c.py': 'c = 1\n' })
    await publisher.takeAll()
    const handled = await publisher.inbox.listHandled(100)
    const ofRun = handled.find((one) => one.outcome === 'run' && one.repository === repository.fullName)
    return RunId.parse(ofRun?.runId)
  }

  it('has one check run where the queue gives its run to two at once', async () => {
    const runId = await pushedRun()
    const { publisher, repository } = at
    await Promise.all([publisher.look(runId), publisher.look(runId)])
    expect(repository.checkRuns()).toMatchObject([{ status: 'queued', externalId: runId }])
  })

  async function slowRun(name: string) {
    const repository = await at.publisher.addRepository(name)
    return { repository, runId: await at.play({ ...played, repository }) }
  }

  it('of an installation with much to publish, on a slow GitHub, does not keep those of another one waiting', async () => {
    const { publisher } = at
    const begun = [await slowRun('shop-a'), await slowRun('shop-b')]
    const waiting = await slowRun('shop-c')
    const end = Promise.withResolvers<void>()
    const asked = Promise.withResolvers<void>()
    let requests = 0
    publisher.github.watch(async () => {
      if (++requests === 2) asked.resolve()
      await end.promise
    })
    const looks = begun.map(({ runId }) => publisher.look(runId))
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
    const runId = await at.play({ ...played, repository: other, source })
    await publisher.look(runId)
    const asksOf = (name: string) => publisher.github.requests.filter(({ path }) => path.startsWith(`/repos/${name}/`))
    expect([asksOf(other.fullName).length > 0, asksOf(waiting.repository.fullName)]).toEqual([true, []])
    end.resolve()
    await Promise.all(looks)
    await publisher.look(waiting.runId)
    expect(asksOf(waiting.repository.fullName)).not.toEqual([])
  })

  it('counts from the retry of an old run: its check run, and how soon it is looked at', async () => {
    const runId = await pushedRun()
    const { publisher, repository } = at
    const { ledger, redis, namespace } = publisher
    await redis.hset(runKeys(namespace, runId).run, 'accepted', Date.now() - 3_600_000)
    await endRun(ledger, runId, 'failed')
    await publisher.look(runId)
    expect(repository.checkRuns()).toMatchObject([{ status: 'completed' }])
    const origin = { kind: 'discovery', id: 'discovery' } as const
    await ledger.reopen(await ledger.getRun(runId), { wanted: {}, origin, command: 'retry' })
    await publisher.look(runId)
    expect(await publisher.host().publishing.due(Date.now() + 5_000, 100)).toContain(runId)
    const { reopenedAt } = await ledger.getRun(runId)
    const startedAt = new Date(reopenedAt ?? 0).toISOString()
    expect(repository.checkRuns()).toMatchObject([{ startedAt, status: 'queued' }])
  })

  it('tells of progress at most every ten seconds, and sees the end of a short run soon', async () => {
    const runId = await pushedRun()
    const { publisher, repository } = at
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
    const dueAfter = (ms: number) => publisher.host().publishing.due(Date.now() + ms, 100)
    expect(await dueAfter(500)).not.toContain(runId)
    expect(await dueAfter(5_000)).toContain(runId)
    // A quarter of its age later, at most after ten seconds.
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
    await publisher.look(runId)
    expect(await dueAfter(9_000)).not.toContain(runId)
    expect(await dueAfter(10_000)).toContain(runId)
    vi.restoreAllMocks()
  })
})
