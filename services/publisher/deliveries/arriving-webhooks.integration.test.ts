import { beforeEach, describe, expect, it } from 'vitest'
import { deliveryOf } from '#code-hosts/delivery-of.ts'
import { RunId } from '#domain/ids.ts'
import type { Run } from '#domain/run.ts'
import { anEvent } from '#testing/open-test-ledger.ts'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from '../published-run.fixture.ts'
import type { TestPublisher } from '../test-publisher.fixture.ts'

const setup = 'setup:\n  command: make environment\n'

describe.skipIf(lacks('git'))('webhooks', () => {
  const at = usePublisher()
  let publisher: TestPublisher
  let repository: TestPublisher['repository']
  beforeEach(() => {
    publisher = at.publisher
    repository = at.repository
  })

  const push = (text: string, by?: string) =>
    repository.humanCommit('main', { 'a.py': text }, by === undefined ? {} : { by })
  /** Those of the repository, the oldest first. */
  async function runs(): Promise<Run[]> {
    await publisher.takeAll()
    const handled = await publisher.inbox.listHandled(1_000)
    const ids = handled.flatMap((one) =>
      one.repository === repository.fullName && one.runId !== null ? one.runId : [],
    )
    const unique = [...new Set(ids)].toReversed()
    return Promise.all(unique.map((id) => publisher.ledger.getRun(RunId.parse(id))))
  }
  const commitsOf = async () => (await runs()).map(({ request }) => request.repository?.commit)
  async function reasons(): Promise<string[]> {
    await publisher.takeAll()
    const handled = await publisher.inbox.listHandled(1_000)
    return handled.flatMap((one) =>
      one.repository === repository.fullName && one.outcome === 'ignored' ? one.reason : [],
    )
  }

  it('that come twice make one run', async () => {
    publisher.github.webhooks.double(2)
    const commit = await push('a = 2\n')
    expect(await commitsOf()).toEqual([commit])
  })

  it('that never arrive are taken from the list of deliveries, also from its later pages', async () => {
    publisher.github.webhooks.drop(2)
    const commit = await push('a = 2\n')
    const { deliveries, redeliver } = publisher.github.webhooks
    const known = Array.from({ length: 105 }, () => deliveries[0])
    for (const one of known) if (one !== undefined) redeliver(one)
    expect(await runs()).toEqual([])
    expect(await publisher.reconcile()).toMatchObject({ taken: 2 })
    expect(await commitsOf()).toEqual([commit])
    expect(await publisher.reconcile()).toMatchObject({ taken: 0 })
  })

  it('one that nobody can read keeps no other away, is asked for once, and says why', async () => {
    publisher.github.webhooks.drop(6)
    for (const text of ['a = 2\n', 'a = 3\n']) await push(text)
    const commit = await push('a = 4\n')
    const mine = publisher.github.webhooks.deliveries.filter(({ repositoryId }) => repositoryId === repository.id)
    const [one, other] = mine.filter(({ event }) => event === 'push')
    if (one === undefined || other === undefined) throw new Error('nothing was pushed')
    one.payload = { ...one.payload, ref: 7 }
    // As of one that GitHub lists and shows no more.
    publisher.github.faults.add({ how: 'status', status: 404, path: new RegExp(`deliveries/${other.id}$`), times: 9 })
    expect(await publisher.reconcile()).toMatchObject({ taken: 4 })
    expect(await commitsOf()).toEqual([commit])
    const handled = await publisher.inbox.listHandled(1_000)
    const reasonOf = (guid: string) => handled.find(({ deliveryId }) => deliveryId === guid)
    expect(reasonOf(one.guid)).toMatchObject({
      outcome: 'failed',
      reason: expect.stringContaining('INTAKE_008 body.ref'),
    })
    expect(reasonOf(other.guid)).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('HOST_002') })
    const before = publisher.github.requests.length
    expect(await publisher.reconcile()).toMatchObject({ taken: 0 })
    expect(publisher.github.requests.slice(before).filter(({ path }) => /deliveries\/\d+$/.test(path))).toEqual([])
    publisher.github.faults.clear()
  })

  it('that GitHub does not answer for are fetched in a later round, and keep no others away', async () => {
    publisher.github.webhooks.drop(4)
    await push('a = 2\n')
    const commit = await push('a = 3\n')
    const [lost] = publisher.github.webhooks.deliveries.filter(({ repositoryId }) => repositoryId === repository.id)
    const path = new RegExp(`deliveries/${lost?.id}$`)
    publisher.github.faults.add({ how: 'status', status: 500, path, times: 2 })
    const leftSince = lost?.deliveredAt.getTime()
    expect(await publisher.reconcile()).toEqual({ taken: 3, leftSince })
    expect(await commitsOf()).toEqual([commit])
    expect(await publisher.reconcile()).toEqual({ taken: 0, leftSince })
    expect(await publisher.reconcile()).toEqual({ taken: 1, leftSince: Infinity })
  })

  it('are not asked for one by one while GitHub asks to wait', async () => {
    publisher.github.webhooks.drop(2)
    const commit = await push('a = 2\n')
    publisher.github.faults.add({ how: 'status', status: 429, path: /deliveries\/\d+$/, retryAfterSeconds: 3_600 })
    await expect(publisher.reconcile()).rejects.toMatchObject({ code: 'HOST_001' })
    await publisher.startAgain()
    expect(await publisher.reconcile()).toMatchObject({ taken: 2 })
    expect(await commitsOf()).toEqual([commit])
  })

  it('that come in another order make the run of what is there now', async () => {
    publisher.github.webhooks.hold()
    await push('a = 2\n')
    const commit = await push('a = 3\n')
    publisher.github.webhooks.release((waiting) => waiting.toReversed())
    expect(await commitsOf()).toEqual([commit])
  })

  it('of an installation that come late, or in another order, are no reason to leave it alone', async () => {
    const { webhooks } = publisher.github
    const { installation } = publisher
    webhooks.hold()
    installation.suspend()
    installation.unsuspend()
    webhooks.release((waiting) => waiting.toReversed())
    const commit = await push('a = 2\n')
    expect(await commitsOf()).toEqual([commit])
    installation.suspend()
    await publisher.takeAll()
    expect(await publisher.host().handling.installations.find(installation.id)).toMatchObject({ isSuspended: true })
    webhooks.drop(1)
    installation.unsuspend()
    const next = await push('a = 3\n')
    expect(await commitsOf()).toEqual([commit, next])
  })

  it('of a newer push supersede the older run, whose check run says so', async () => {
    await push('a = 2\n')
    const [first] = await runs()
    if (first === undefined) throw new Error('there is no run')
    await publisher.look(first.runId)
    const commit = await push('a = 3\n')
    const [former, newer] = await runs()
    expect(former?.stop).toMatchObject({ reason: `superseded by run ${newer?.runId} of a newer push` })
    expect(newer?.request.repository?.commit).toBe(commit)
    await endAsCancelled(first.runId)
    await publisher.settle(first.runId)
    const [check, ...others] = repository.checkRuns()
    expect(others).toEqual([])
    expect(check).toMatchObject({ status: 'completed', conclusion: 'cancelled' })
    expect(check?.output.summary).toContain(`superseded by run ${newer?.runId}`)
  })

  /** As discovery does, once nothing of the run is under way. */
  async function endAsCancelled(runId: RunId): Promise<void> {
    const events = [anEvent({ event: 'run.cancelled' })]
    await publisher.ledger.move(runId, {
      from: [{ status: 'queued' }],
      to: { status: 'cancelled' },
      command: 'stop',
      events,
    })
  }

  it('that change nothing start nothing, and say why', async () => {
    const first = (await repository.tip('main')) ?? ''
    await push('a = 2\n')
    await runs()
    await repository.humanCommit('main', { 'a.py': 'a = 2\n' }, { parent: first, message: 'The same again' })
    await runs()
    await repository.git(['push', '-q', repository.gitPath, 'main:refs/tags/v1'])
    await repository.humanCommit('topic', { 'b.py': 'b = 2\n' })
    await repository.deleteBranch('topic')
    await push('a = 4\n', 'remora-test[bot]')
    await push('a = 5\n', 'dependabot[bot]')
    await repository.humanCommit('remora/main', { 'b.py': 'b = 2\n' })
    expect(await runs()).toHaveLength(1)
    const said = (await reasons()).join('\n')
    for (const why of [
      'changes nothing',
      'no branch',
      'only the default branch',
      'was deleted',
      'app itself',
      'ignore_authors',
      'our own',
    ])
      expect(said).toContain(why)
  })

  describe('of accounts that are ignored, while a pull request is open', () => {
    const spaced = (first: number, last: number) => `a = ${first}\n\n\n\n\n\nz = ${last}\n`
    const files = { 'a.py': spaced(1, 1), 'b.py': 'b = 1\n', 'README.md': '# Shop\n' }
    const change = { name: 'one', path: 'a.py', from: 'a = 1', to: 'a = 2' }
    const bot = 'dependabot[bot]'
    const openPull = async () => {
      await push(spaced(1, 1))
      await publisher.settle(await at.play({ files, changes: [change] }))
      expect(repository.pulls()).toHaveLength(1)
      await runs()
    }

    it('keep it mergeable by a run that works on nothing, once for a commit', async () => {
      await openPull()
      publisher.github.webhooks.double()
      const commit = await push(spaced(1, 7), bot)
      const [, kept, ...others] = await runs()
      expect(others).toEqual([])
      expect(kept?.request.repository).toMatchObject({ commit, branch: 'main', since: { commit } })
      // As that run goes: nothing is planned.
      const newFiles = { ...files, 'a.py': spaced(1, 7) }
      await publisher.settle(await at.play({ files: newFiles, changes: [] }))
      expect(repository.pulls()).toMatchObject([{ number: 1, state: 'open' }])
      expect(await repository.read('remora/main', 'a.py')).toBe(spaced(2, 7))
      expect(await repository.git(['merge-base', 'main', 'remora/main'])).toBe(commit)
      // What they have pushed is work for the next push that counts.
      await push(spaced(1, 8))
      expect((await runs()).at(-1)?.request.repository?.since).not.toEqual({ commit })
    })

    it('start nothing where they change other files', async () => {
      await openPull()
      await repository.humanCommit('main', { 'b.py': 'b = 7\n' }, { by: bot })
      expect(await runs()).toHaveLength(1)
      expect((await reasons()).join('\n')).toContain('ignore_authors')
    })
  })

  it('of a pull request start a run of its branch, that publishes nothing by itself', async () => {
    const commit = await repository.humanCommit('topic', { 'b.py': 'b = 2\n' })
    await repository.openPull({ head: 'topic' })
    const [run, ...others] = await runs()
    expect(others).toEqual([])
    expect(run?.request.repository).toMatchObject({ commit, branch: 'topic', pullRequest: 1, isFork: false })
  })

  async function arriveOfFork(): Promise<void> {
    const commit = await repository.humanCommit('theirs', { 'b.py': 'b = 2\n' })
    await repository.openPull({ head: 'theirs', by: 'mallory' })
    await repository.git(['update-ref', 'refs/pull/1/head', commit])
    await publisher.takeAll()
    const sent = publisher.github.webhooks.deliveries.findLast(({ event }) => event === 'pull_request')
    const text = JSON.stringify(sent?.payload).replace(/("head":\{.*?"repo":\{"id":)\d+/, '$1999')
    const headers = { deliveryId: `fork-${repository.name}`, event: 'pull_request' }
    await publisher.inbox.put(deliveryOf(headers, JSON.parse(text)))
  }

  it('of forks start nothing', async () => {
    await repository.humanCommit('main', { 'remora.yaml': 'github:\n  pull_requests: false\n' })
    const before = (await runs()).length
    await repository.humanCommit('main', { 'remora.yaml': setup })
    await runs()
    await arriveOfFork()
    const last = (await runs()).filter(({ request }) => request.repository?.isFork)
    expect(last).toEqual([])
    expect(before).toBe(1)
    expect((await reasons()).join('\n')).toContain('github.forks')
  })

  it('of forks start a run where the default branch says so, without its setup', async () => {
    await repository.humanCommit('main', { 'remora.yaml': `github:\n  forks: true\n${setup}` })
    const [own] = await runs()
    expect(own?.request.setup).toBe('make environment')
    await arriveOfFork()
    const [run] = (await runs()).filter(({ request }) => request.repository?.isFork)
    expect(run?.request.repository).toMatchObject({ ref: 'refs/pull/1/head', isFork: true })
    expect(run?.request.repository?.branch).toBeUndefined()
    expect(run?.request.setup).toBeUndefined()
    await publisher.look(run?.runId ?? '')
    const check = repository.checkRuns().find(({ externalId }) => externalId === run?.runId)
    repository.rerequest(check?.id ?? 0)
    expect((await runs()).filter(({ request }) => request.repository?.isFork)).toMatchObject([
      { request: run?.request },
      { request: { repository: { ref: 'refs/pull/1/head', commit: run?.request.repository?.commit } } },
    ])
    await repository.humanCommit('main', { 'remora.yaml': 'github:\n  forks: false\n' })
    repository.rerequest(check?.id ?? 0)
    expect((await runs()).filter(({ request }) => request.repository?.isFork)).toHaveLength(2)
  })

  it('that ask for a check again start another run of the commit, once', async () => {
    const commit = await push('a = 2\n')
    const [first] = await runs()
    if (first === undefined) throw new Error('there is no run')
    await publisher.look(first.runId)
    const [check] = repository.checkRuns()
    publisher.github.webhooks.double()
    repository.rerequest(check?.id ?? 0)
    expect(await commitsOf()).toEqual([commit, commit])
  })
})
