import { beforeAll, describe, expect, it } from 'vitest'
import { Problem } from '#schemas/problem-schema.ts'
import { Timeline } from '#schemas/timeline-schema.ts'
import { askingRun, composeRun, playRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

let runId: string
const api = useTestApi()
beforeAll(async () => {
  runId = await playRun(api, [
    { name: 'one', changes: [{ kind: 'create', path: 'one.py', content: 'x = 1\n' }] },
    { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit of 12' } },
    { name: 'found', leaves: 'sound', finds: [{ claim: 'a fault', rule: 'r' }] },
  ])
})

const ask = (query = '', of = runId) => api.ask(`/v1/runs/${of}/timeline${query}`)
const timeline = async (query = '', of = runId) => Timeline.parse(await (await ask(query, of)).json())
const problem = async (query: string, of = runId) => Problem.parse(await (await ask(query, of)).json())

describe('GET /v1/runs/{run_id}/timeline', () => {
  it('tells each event in a sentence, in order, page by page', async () => {
    const { seq } = await api.ledger.getRun(runId)
    const whole = await timeline()
    expect(whole.entries.map((entry) => entry.seq)).toEqual(Array.from({ length: seq }, (_, at) => at + 1))
    expect(whole.entries.find(({ event }) => event === 'operation.failed')?.summary).toContain('turn limit of 12')
    const pages = [await timeline('?limit=7')]
    for (let after = 7; after < seq; after += 7) pages.push(await timeline(`?limit=7&after=${after}`))
    expect(pages.flatMap(({ entries }) => entries)).toEqual(whole.entries)
    expect(pages.at(-1)).toMatchObject({ next_after: seq, counts_by_category: whole.counts_by_category })
  })

  it('counts the whole run, whatever is shown of it', async () => {
    const { counts_by_category: counts, entries } = await timeline('?limit=1000')
    for (const [category, count] of Object.entries(counts)) {
      expect(
        entries.filter((entry) => entry.category === category),
        category,
      ).toHaveLength(count)
    }
    const some = await timeline('?category=failed,blocked,decision')
    expect(some.counts_by_category).toEqual(counts)
    expect(some.entries.map(({ category }) => category).toSorted()).toEqual(['failed'])
  })

  it('judges milestones by exact names on the whole run, also of what is not on the page', async () => {
    expect((await timeline('?limit=1&category=finding&required_milestones=run.started,operation.failed')).run_id).toBe(
      runId,
    )
    const missing = await problem('?required_milestones=run.started,run.complete,run.cancelled')
    expect(missing).toMatchObject({ status: 422, error_code: 'RUN_003', run_id: runId })
    expect(missing.detail).toContain('run.complete (no event has this name), run.cancelled')
    expect(missing.detail).not.toContain('run.started')
  })

  it('refuses what it does not know', async () => {
    expect(await problem('?category=odd')).toMatchObject({ status: 400, error_code: 'RUN_002' })
    expect(await problem('?category=failed,teaching')).toMatchObject({ status: 400, error_code: 'RUN_002' })
    expect(await problem('?category=')).toMatchObject({ status: 400, error_code: 'RUN_002' })
    expect(await problem('?after=99999')).toMatchObject({ status: 400, error_code: 'RUN_002' })
    expect(await problem('', 'r0000000000000000')).toMatchObject({ status: 404, error_code: 'RUN_001' })
  })

  it('names what is active now, and grows with the run', async () => {
    const asking = await askingRun(api, { text: 'which one?', choices: null })
    const before = await timeline('', asking)
    expect(before.active_operations).toMatchObject([{ agent: 'lint', status: 'waiting' }])
    const answer = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"answer":"yes"}' }
    await api.ask(`/v1/runs/${asking}/questions/q1`, answer)
    const after = await timeline(`?after=${before.next_after}`, asking)
    expect(after.active_operations).toEqual([])
    expect(after.entries.map(({ event }) => event)).toContain('human_input.answered')
    expect(after.counts_by_category['escalation']).toBe((before.counts_by_category['escalation'] ?? 0) + 1)
  })

  it('has what was decided, and where what the run made is', async () => {
    await composeRun(api, runId, { files: [] })
    const body = '{"where":{},"verdict":"reject","reason":"not now"}'
    const decided = await api.ask(`/v1/runs/${runId}/decisions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    expect(decided.status, await decided.text()).toBe(200)
    const { decisions, artifacts, total_duration_ms: ms, status } = await timeline()
    expect(decisions).toMatchObject({
      accepted: 0,
      rejected: 1,
      latest: [{ verdict: 'rejected', reason: 'not now' }],
    })
    expect(artifacts.map(({ kind }) => kind)).toEqual(['patch', 'archive', 'findings'])
    expect(status).toBe('completed')
    expect(ms).toBeGreaterThan(0)
  })
})
