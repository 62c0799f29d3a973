import { describe, expect, it } from 'vitest'
import { deliveryOf } from '#code-hosts/delivery-of.ts'
import { RunId } from '#domain/ids.ts'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from '../published-run.fixture.ts'

describe.skipIf(lacks('git'))('"Re-run all" at a commit', () => {
  const at = usePublisher()

  /** The newest first. */
  async function handled() {
    await at.publisher.takeAll()
    const all = await at.publisher.inbox.listHandled(1_000)
    return all.filter(({ repository }) => repository === at.repository.fullName)
  }
  /** The source of the run that the newest webhook has led to. */
  async function newestSource() {
    const [{ runId, reason } = { runId: null, reason: 'nothing came' }] = await handled()
    return runId === null ? reason : (await at.publisher.ledger.getRun(RunId.parse(runId))).request.repository
  }
  async function runsOf(commit: string) {
    const ids = [...new Set((await handled()).flatMap(({ runId }) => runId ?? []))]
    const runs = await Promise.all(ids.map((id) => at.publisher.ledger.getRun(RunId.parse(id))))
    return runs.filter(({ request }) => request.repository?.commit === commit)
  }

  it("of a person's pull request starts another run of it, of which nothing is published", async () => {
    const commit = await at.repository.humanCommit('topic', { 'c.py': 'c = 1\n' })
    await at.repository.openPull({ head: 'topic' })
    expect(await runsOf(commit)).toHaveLength(1)
    at.publisher.github.webhooks.double(1, 'check_suite')
    await at.repository.rerequestSuite('topic')
    expect(await newestSource()).toMatchObject({ commit, branch: 'topic', pullRequest: 1, isFork: false })
    expect(await runsOf(commit)).toHaveLength(2)
  })

  it('of a branch that is worked on is of the branch, as its push was, also where it has a pull request', async () => {
    await at.repository.humanCommit('main', { 'remora.yaml': 'github: { branches: [main, topic] }\n' })
    const commit = await at.repository.humanCommit('topic', { 'c.py': 'c = 1\n' })
    await at.repository.openPull({ head: 'topic' })
    const [ofPush] = await runsOf(commit)
    expect(ofPush?.request.repository?.pullRequest).toBeUndefined()
    await at.repository.rerequestSuite('topic')
    expect(await newestSource()).toMatchObject({ commit, branch: 'topic' })
    expect(await newestSource()).not.toHaveProperty('pullRequest')
    expect(await runsOf(commit)).toHaveLength(2)
  })

  it('starts nothing where neither is worked on, and at a pull request of ours', async () => {
    await at.repository.humanCommit('main', { 'remora.yaml': 'github: { pull_requests: false }\n' })
    await at.repository.humanCommit('topic', { 'c.py': 'c = 1\n' })
    await at.repository.openPull({ head: 'topic' })
    await at.repository.rerequestSuite('topic')
    expect(await newestSource()).toContain('github.pull_requests')
    await at.repository.humanCommit('remora/main', { 'c.py': 'c = 1\n' })
    await at.repository.openPull({ head: 'remora/main' })
    await at.repository.rerequestSuite('remora/main')
    expect(await newestSource()).toContain('our own')
  })

  it.each(['head', 'base'])(
    'takes no pull request whose %s is in another repository for one of this one',
    async (side) => {
      await at.repository.humanCommit('topic', { 'c.py': 'c = 1\n' })
      await at.repository.openPull({ head: 'topic' })
      await at.publisher.takeAll()
      await at.repository.rerequestSuite('topic')
      await at.publisher.takeAll()
      const sent = at.publisher.github.webhooks.deliveries.findLast(({ event }) => event === 'check_suite')
      const ofSide = new RegExp(`("${side}":\\{"ref":"[^"]*","sha":"[^"]*","repo":\\{"id":)\\d+`)
      const text = JSON.stringify(sent?.payload).replace(ofSide, '$1999')
      const headers = { deliveryId: `${side}-${at.repository.id}`, event: 'check_suite' }
      await at.publisher.inbox.put(deliveryOf(headers, JSON.parse(text)))
      expect(await newestSource()).toContain('only the default branch')
    },
  )
})
