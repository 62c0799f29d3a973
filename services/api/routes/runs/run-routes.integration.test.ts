import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { writeSnapshot } from '#store/objects/snapshot.ts'
import { plannedOperation, playRun, submitRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

let runId: string
const api = useTestApi()
beforeAll(async () => {
  runId = await playRun(api, [
    { name: 'one', changes: [{ kind: 'create', path: 'one.py', content: 'x = 1\n' }] },
    { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit of 12' } },
    { name: 'three', changes: [{ kind: 'create', path: 'three.py', content: 'x = 3\n' }] },
    { name: 'four', fails: { code: 'AGENT_002', reason: 'm1 does not answer' } },
    { name: 'five', fails: { code: 'AGENT_002', reason: 'm2 does not answer' } },
  ])
})

async function json(path: string): Promise<unknown> {
  const answer = await api.ask(path)
  expect(answer.status).toBe(200)
  return answer.json()
}

const EventsPage = z.object({
  events: z.array(z.object({ seq: z.number(), event: z.string(), category: z.string(), ts: z.iso.datetime() })),
  next_after: z.number(),
  run_status: z.string(),
})
const events = async (query: string) => EventsPage.parse(await json(`/v1/runs/${runId}/events?${query}`))

describe('GET /v1/runs', () => {
  it('lists the newest run first, page by page', async () => {
    const newer = await submitRun(api)
    const Page = z.object({ runs: z.array(z.object({ run_id: z.string() })), next: z.string().nullable() })
    const first = Page.parse(await json('/v1/runs?limit=1'))
    expect(first.runs.map((run) => run.run_id)).toEqual([newer])
    const second = Page.parse(await json(`/v1/runs?limit=1&before=${first.next}`))
    expect(second.runs.map((run) => run.run_id)).toEqual([runId])
    expect(second.next).toBeNull()
  })
})

describe('GET /v1/runs/{run_id}', () => {
  it('tells state, counts, and why operations failed: how many with each error code, and one example', async () => {
    const lint = { agent: 'lint', path: 'a.py', status: 'failed' }
    expect(await json(`/v1/runs/${runId}`)).toMatchObject({
      run_id: runId,
      project_id: api.project,
      status: 'running',
      counts: { succeeded: 2, failed: 3, ready: 0 },
      checks: {},
      failures: [
        {
          ...lint,
          error_code: 'AGENT_002',
          count: 2,
          operation_id: plannedOperation('four').operationId,
          qualified_name: 'four',
          reason: 'm1 does not answer',
        },
        {
          ...lint,
          error_code: 'AGENT_004',
          count: 1,
          operation_id: plannedOperation('two').operationId,
          qualified_name: 'two',
          reason: 'turn limit of 12',
        },
      ],
    })
  })

  it('tells how far the composition of its patch is, as does a page of its events', async () => {
    const progress = { operationsRead: 3, operations: 3, filesProved: 1, files: 2 }
    const set = { composing: JSON.stringify(progress) }
    await api.ledger.move(runId, { from: [{ status: 'running' }], to: {}, command: 'composing', set, events: [] })
    const composing = { operations_read: 3, operations: 3, files_proved: 1, files: 2 }
    expect(await json(`/v1/runs/${runId}`)).toMatchObject({ composing })
  })

  it.for(['r0000000000000', 'R', '..%2f', 'r'.repeat(300)])('knows no run %s', async (id) => {
    const answer = await api.ask(`/v1/runs/${id}`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error_code: 'RUN_001' })
  })
})

describe('GET /v1/runs/{run_id}/operations', () => {
  const Page = z.object({
    operations: z.array(z.object({ operation_id: z.string(), agent: z.string(), status: z.string() })),
    next: z.string().nullable(),
  })
  const page = async (query: string) => Page.parse(await json(`/v1/runs/${runId}/operations?${query}`))

  it('lists them in the order of the plan, page by page', async () => {
    const first = await page('limit=2')
    const second = await page(`limit=2&cursor=${first.next}`)
    const ids = [...first.operations, ...second.operations].map((operation) => operation.operation_id)
    expect(ids).toEqual(['one', 'two', 'three', 'four'].map((name) => plannedOperation(name).operationId))
    expect(second.next).toBe('4')
  })

  it('lists those of one status', async () => {
    const { operations } = await page('status=failed')
    const failed = ['two', 'four', 'five'].map((name) => plannedOperation(name).operationId)
    expect(operations.map((operation) => operation.operation_id)).toEqual(failed)
    expect((await page('status=blocked')).operations).toEqual([])
  })

  it('shows one with its node and outcome', async () => {
    const { operationId } = plannedOperation('one')
    expect(await json(`/v1/runs/${runId}/operations/${operationId}`)).toMatchObject({
      operation_id: operationId,
      node: { qualified_name: 'one', start_line: 1 },
      status: 'succeeded',
      attempt: 1,
      outcome: { status: 'succeeded', changed_files: ['one.py'], tokens: { prompt: 100, completion: 20 } },
    })
  })

  it.for(['o0000000000000000', 'nonsense'])('knows no operation %s', async (id) => {
    const answer = await api.ask(`/v1/runs/${runId}/operations/${id}`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ error_code: 'RUN_004', run_id: runId })
  })
})

describe('GET /v1/runs/{run_id}/events', () => {
  it('pages through all of them in order, without a gap', async () => {
    const { seq } = await api.ledger.getRun(runId)
    const seqs: number[] = []
    for (let after = 0; seqs.length < seq;) {
      const page = await events(`after=${after}&limit=4`)
      expect(page.events.length).toBeGreaterThan(0)
      seqs.push(...page.events.map((event) => event.seq))
      after = page.next_after
    }
    expect(seqs).toEqual(Array.from({ length: seq }, (_, index) => index + 1))
  })

  it('shows one category and goes on behind what it passed over', async () => {
    const { seq } = await api.ledger.getRun(runId)
    const page = await events('category=failed')
    expect(page.events.map((event) => event.event)).toEqual(Array(3).fill('operation.failed'))
    expect(page.next_after).toBe(seq)
  })

  it('ends a category page at its limit and misses nothing on the next', async () => {
    const all = (await events('category=worker_call')).events
    const first = await events('category=worker_call&limit=2')
    const rest = await events(`category=worker_call&after=${first.next_after}`)
    expect([...first.events, ...rest.events]).toEqual(all)
  })
})

describe('query parameters', () => {
  it.for([
    'operations?status=done',
    'operations?cursor=abc',
    'operations?limit=0',
    'events?limit=100000',
    'events?after=-1',
    'events?after=x',
    'events?category=nonsense',
    'events?wait_ms=1',
    'events?colour=red',
    'changes?limit=1.5',
    'patch?of=merged',
    'patch?of=everything',
  ])('are refused when they are unknown or out of bounds: %s', async (view) => {
    const answer = await api.ask(`/v1/runs/${runId}/${view}`)
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({ error_code: 'RUN_002' })
  })

  it('are refused on the list of runs', async () => {
    for (const query of ['limit=1000', 'before=yesterday'])
      expect((await api.ask(`/v1/runs?${query}`)).status).toBe(400)
  })
})

describe('GET /v1/runs/{run_id} of an archive of which something was passed over', () => {
  it('lists it with its reason', async () => {
    const run = await submitRun(api)
    const skipped = [{ path: '.git', reason: "Git's own data" }]
    const contents = { files: [], links: [], skipped }
    const { snapshotId } = await writeSnapshot(api.objects, api.project, contents)
    const from = [{ status: 'queued' as const }]
    await api.ledger.move(run, { from, to: { status: 'running' }, command: 'start', set: { snapshotId }, events: [] })
    expect(await json(`/v1/runs/${run}`)).toMatchObject({ skipped: 1, skipped_files: skipped })
  })
})
