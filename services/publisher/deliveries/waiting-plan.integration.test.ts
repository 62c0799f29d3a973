import { describe, expect, it } from 'vitest'
import { RunId } from '#domain/ids.ts'
import { takeStep } from '#testing/conducted-run.ts'
import { anEvent, endRun } from '#testing/open-test-ledger.ts'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from '../published-run.fixture.ts'

describe.skipIf(lacks('git'))('a push to a branch whose run waits for the approval of its plan', () => {
  const at = usePublisher({ settings: { objective: 'The code is tidy.', approval: 'plan' } })

  /** The newest first. */
  async function handled() {
    await at.publisher.takeAll()
    const all = await at.publisher.inbox.listHandled(1_000)
    return all.filter(({ repository, outcome }) => repository === at.repository.fullName && outcome !== 'ignored')
  }
  async function pushed(branch: string, files: Record<string, string>) {
    const commit = await at.repository.humanCommit(branch, files)
    const [{ outcome, runId } = { outcome: 'nothing came', runId: null }] = await handled()
    return { commit, outcome, runId: RunId.parse(runId) }
  }
  /** What a push has begun, as far as its conductor has planned it. */
  async function planned(approvedAt?: number, branch = 'main') {
    const { ledger } = at.publisher
    const { runId } = await pushed(branch, { 'a.py': 'a = 2\n' })
    await ledger.move(runId, {
      from: [{ status: 'queued' }],
      to: { status: 'running', phase: 'execution' },
      command: 'start',
      set: { snapshotId: 's1', conductor: 'open', planned: '1' },
      events: [anEvent({ event: 'run.started', phase: 'planning' })],
    })
    const { state } = (await ledger.readAgenda(runId)) ?? {}
    if (state === undefined) throw new Error('it has no objective')
    const approval = { plan_hash: 'h', wanted_since: 1, ...(approvedAt !== undefined && { at: approvedAt }) }
    await takeStep(ledger, runId, { state: { ...state, approval }, waits: { kind: 'approval' } })
    return runId
  }
  async function heard(runId: RunId) {
    const claimed = await at.publisher.ledger.claimStep(runId, { token: 'look', leaseMs: 0 })
    return claimed.kind === 'claimed' ? claimed.step.inbox : claimed.kind
  }

  it('is told to that run, and gets one of its own once that has ended, however many came', async () => {
    const runId = await planned()
    const first = await pushed('main', { 'b.py': 'b = 2\n' })
    const last = await pushed('main', { 'c.py': 'c = 2\n' })
    expect([first, last]).toMatchObject([
      { outcome: 'acted', runId },
      { outcome: 'acted', runId },
    ])
    expect(await heard(runId)).toEqual([
      { kind: 'pushed', commit: first.commit, paths: ['b.py'] },
      { kind: 'pushed', commit: last.commit, paths: ['b.py', 'c.py'] },
    ])
    await at.publisher.look(runId)
    expect(await handled()).toHaveLength(3)
    await endRun(at.publisher.ledger, runId, 'failed')
    for (const _ of [1, 2]) await at.publisher.look(runId)
    const [next, ...before] = await handled()
    expect([next?.outcome, before.length]).toEqual(['run', 3])
    const { request } = await at.publisher.ledger.getRun(RunId.parse(next?.runId))
    expect(request).toMatchObject({
      repository: { commit: last.commit },
      objective: 'The code is tidy.',
      approval: 'plan',
    })
  })

  it("is told to the run of a person's pull request, too", async () => {
    await at.repository.humanCommit('topic', { 'a.py': 'a = 0\n' })
    await at.repository.openPull({ head: 'topic' })
    const runId = await planned(undefined, 'topic')
    expect(await pushed('topic', { 'b.py': 'b = 2\n' })).toMatchObject({ outcome: 'acted', runId })
    await endRun(at.publisher.ledger, runId, 'failed')
    await at.publisher.look(runId)
    const [next] = await handled()
    const { request } = await at.publisher.ledger.getRun(RunId.parse(next?.runId))
    expect(request.repository).toMatchObject({ branch: 'topic', pullRequest: 1 })
    expect(next?.runId).not.toBe(runId)
  })

  it.for([
    ['it executes', 5, {}],
    ['another objective is wanted by now', undefined, { 'remora.yaml': 'github: { objective: Be quick. }\n' }],
  ] as const)('supersedes that run where %s', async ([, approvedAt, files]) => {
    const runId = await planned(approvedAt)
    const next = await pushed('main', { 'b.py': 'b = 2\n', ...files })
    expect([next.outcome, next.runId === runId]).toEqual(['run', false])
    expect((await at.publisher.ledger.getRun(runId)).stop).not.toBeNull()
  })
})
