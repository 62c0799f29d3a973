import { describe, expect, it } from 'vitest'
import { RunId } from '#domain/ids.ts'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from '../published-run.fixture.ts'

const wrong = { 'remora.yaml': 'github:\n  agent: lint\n' }
const right = { 'remora.yaml': 'github:\n  agents: [lint]\n' }

describe.skipIf(lacks('git'))('a remora.yaml that is wrong', () => {
  const at = usePublisher({ settings: { branches: ['main', 'release'] } })

  async function checksAt(commit: string) {
    await at.publisher.takeAll()
    return at.repository.checkRuns().filter(({ headSha }) => headSha === commit)
  }
  async function handled() {
    await at.publisher.takeAll()
    const all = await at.publisher.inbox.listHandled(1_000)
    return all.filter(({ repository }) => repository === at.repository.fullName)
  }
  async function runsOf(commit: string) {
    const ids = new Set((await handled()).flatMap(({ runId }) => runId ?? []))
    const runs = await Promise.all([...ids].map((id) => at.publisher.ledger.getRun(RunId.parse(id))))
    return runs.filter(({ request }) => request.repository?.commit === commit)
  }

  it('gets one check run at the pushed commit, with its code, its line and what to do', async () => {
    at.publisher.github.webhooks.double(1, 'push')
    const commit = await at.repository.humanCommit('main', wrong)
    const [check, ...others] = await checksAt(commit)
    expect(others).toEqual([])
    expect(check).toMatchObject({ name: 'Remora', status: 'completed', conclusion: 'failure', actions: [] })
    const { title, summary } = check?.output ?? {}
    expect(title).toMatch(/^CONFIG_004: remora\.yaml of \S+:2: .*github\.agent/)
    expect(summary).toContain('`CONFIG_004`')
    expect(summary).toMatch(/^- remora\.yaml of .*:2: .*github\.agent/m)
    expect(summary).toContain('Mend it on `main`')
    expect(await runsOf(commit)).toEqual([])
    expect(await handled()).toContainEqual(expect.objectContaining({ outcome: 'failed' }))
  })

  it('names each of its faults by its line, as text without a meaning for GitHub', async () => {
    const text = 'github:\n  "@everyone fixes #1": 1\n  schedule:\n    - every night\n'
    const commit = await at.repository.humanCommit('main', { 'remora.yaml': text })
    const [check] = await checksAt(commit)
    const summary = check?.output.summary ?? ''
    expect(summary.match(/^- remora\.yaml of .*:\d+: /gm)).toHaveLength(2)
    expect(summary).toMatch(/:4: .*is no cron pattern/)
    expect(summary).not.toMatch(/@e|#1/)
  })

  it('is reported with its line also where only a run cannot use it', async () => {
    const commit = await at.repository.humanCommit('main', { 'remora.yaml': '\nverify:\n  command: |\n    a\n    b\n' })
    const [check] = await checksAt(commit)
    expect(check?.output.title).toMatch(/^CONFIG_003: remora\.yaml of \S+:3: verify\.command/)
  })

  it.each([
    ['a branch that is not worked on', 'topic', 'ada'],
    ['an account that is ignored', 'release', 'dependabot[bot]'],
    ['a branch of ours', 'remora/main', 'ada'],
  ])('gets no check run for a push to %s', async (_, branch, by) => {
    await at.repository.humanCommit('main', wrong)
    const commit = await at.repository.humanCommit(branch, { 'c.py': 'c = 1\n' }, { by })
    expect(await checksAt(commit)).toEqual([])
  })

  it('gets a check run at each commit that is pushed meanwhile, and hides no result of a run', async () => {
    const done = await at.repository.humanCommit('release', { 'c.py': 'c = 1\n' })
    await at.publisher.takeAll()
    await at.repository.humanCommit('main', wrong)
    await at.repository.openPull({ head: 'release' })
    expect(await checksAt(done)).toEqual([])
    const next = await at.repository.humanCommit('release', { 'c.py': 'c = 2\n' })
    expect(await checksAt(next)).toMatchObject([{ conclusion: 'failure' }])
  })

  it('is not reported any more once it is mended: "Re-run" starts a run, whose check run is the newest', async () => {
    await at.repository.humanCommit('main', wrong)
    const commit = await at.repository.humanCommit('topic', { 'c.py': 'c = 1\n' })
    await at.repository.openPull({ head: 'topic' })
    const [told] = await checksAt(commit)
    const again = async () => {
      at.repository.rerequest(told?.id ?? 0)
      return runsOf(commit)
    }
    expect(await again()).toEqual([])
    expect(await checksAt(commit)).toHaveLength(1)
    await at.repository.humanCommit('main', right)
    const [run, ...others] = await again()
    expect(others).toEqual([])
    expect(run?.request.repository).toMatchObject({ branch: 'topic', pullRequest: 1 })
    if (run !== undefined) await at.publisher.look(run.runId)
    const [, newest] = await checksAt(commit)
    expect(newest).toMatchObject({ name: 'Remora', externalId: run?.runId })
  })

  it('is known to the operator alone where the app may not write check runs', async () => {
    at.publisher.installation.setPermissions({ contents: 'write', pull_requests: 'write' })
    const commit = await at.repository.humanCommit('main', wrong)
    expect(await checksAt(commit)).toEqual([])
    const reasons = (await handled()).map(({ reason }) => reason)
    expect(reasons).toContainEqual(expect.stringMatching(/^CONFIG_004/))
  })
})
