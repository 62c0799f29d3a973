import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Composition } from '#store/objects/composition.ts'
import { putComposition } from '#store/objects/stored-records.ts'
import { ChangePage, type ChangeView } from '#schemas/change-schema.ts'
import { until } from '#testing/until.ts'
import { composeRun, plannedOperation, type PlayedEnding, playRun } from '../../played-run.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const base = 'a = 1\nb = 2\nc = 3\n'

const Decision = z.object({
  verdict: z.string(),
  version: z.int(),
  reason: z.string().nullable(),
  decided_by: z.string(),
})
const Decided = z.looseObject({
  made: z.int(),
  decisions: z.array(z.looseObject({ change_set_id: z.string(), verdict: z.string(), decision: Decision.nullable() })),
  refused_count: z.int(),
  refused: z.array(z.looseObject({ change_set_id: z.string(), error_code: z.string(), detail: z.string() })),
})

let baseHash: string
const api = useTestApi()
beforeAll(async () => {
  baseHash = await api.blobs.put(api.project, Buffer.from(base))
})

function changing(name: string, start: number, end: number, text: string): PlayedEnding {
  return { name, changes: [{ kind: 'edit', path: 'a.py', baseHash, edits: [{ start, end, text }] }] }
}

/** Three change sets: the first two change the first line. */
const played = () =>
  playRun(api, [changing('one', 0, 5, 'a = 10'), changing('two', 4, 5, '20'), changing('three', 12, 17, 'c = 30')])

async function changes(runId: string, query = ''): Promise<ChangeView[]> {
  const all: ChangeView[] = []
  for (let from: string | null = ''; from !== null;) {
    const answer = await api.ask(`/v1/runs/${runId}/changes?limit=100${query}${from}`)
    expect(answer.status).toBe(200)
    const page = ChangePage.parse(await answer.json())
    all.push(...page.changes)
    from = page.next === null ? null : `&cursor=${page.next}`
  }
  return all
}

const idOf = async (runId: string, name: string) => {
  const found = (await changes(runId)).find((one) => one.qualified_name === name)
  if (found === undefined) throw new Error(`nothing changed ${name}`)
  return found.change_set_id
}

const post = (runId: string, body: object) =>
  api.ask(`/v1/runs/${runId}/decisions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

async function decide(runId: string, body: object): Promise<z.infer<typeof Decided>> {
  const answer = await post(runId, body)
  const answered: unknown = await answer.json()
  expect(answer.status, JSON.stringify(answered)).toBe(200)
  return Decided.parse(answered)
}

const one = (change_set_id: string, verdict: string, more: object = {}) => ({
  decisions: [{ change_set_id, verdict, ...more }],
})

const verdictsOf = async (runId: string) =>
  Object.fromEntries((await changes(runId)).map(({ qualified_name: name, verdict }) => [name, verdict]))

describe('POST /v1/runs/{run_id}/decisions', () => {
  it('accepts, rejects and takes back, with who, when and why, while the run runs and after its end', async () => {
    const runId = await played()
    const id = await idOf(runId, 'three')
    const accepted = await decide(runId, one(id, 'accept'))
    const decided = { change_set_id: id, agent: 'lint', path: 'a.py', qualified_name: 'three', verdict: 'accepted' }
    expect(accepted).toMatchObject({ made: 1, decisions: [{ ...decided, made: true, was: 'pending' }], refused: [] })
    await composeRun(api, runId, { files: [] })
    const rejected = await decide(runId, one(id, 'reject', { reason: 'too "long"' }))
    expect(rejected.decisions).toMatchObject([{ verdict: 'rejected', made: true, was: 'accepted' }])
    const [shown] = (await changes(runId)).filter(({ change_set_id: other }) => other === id)
    expect(shown).toMatchObject({ verdict: 'rejected', decision: { reason: 'too "long"' } })
    expect(shown?.decision?.decided_by).toMatch(/^human\//)
    await decide(runId, one(id, 'undo'))
    expect(await verdictsOf(runId)).toEqual({ one: 'pending', two: 'pending', three: 'pending' })
    const events = await api.ledger.readEvents(runId, { after: 0, limit: 1_000 })
    const said = events.flatMap(({ event, data }) => (event === 'decision.made' ? [data['verdict']] : []))
    expect(said).toEqual(['accepted', 'rejected', 'pending'])
    expect((await api.ledger.verify(runId)).violations).toEqual([])
  })

  it('makes the same decision once', async () => {
    const runId = await played()
    const id = await idOf(runId, 'one')
    const answers = await Promise.all(Array.from({ length: 8 }, () => decide(runId, one(id, 'accept'))))
    expect(answers.reduce((sum, { made }) => sum + made, 0)).toBe(1)
    const versions = answers.map(({ decisions }) => decisions[0]?.decision?.version)
    expect(new Set(versions).size).toBe(1)
  })

  it('refuses to accept what collides with something accepted, with both names and both texts', async () => {
    const runId = await played()
    const [first, second] = [await idOf(runId, 'one'), await idOf(runId, 'two')]
    const decided = await decide(runId, {
      decisions: [
        { change_set_id: first, verdict: 'accept' },
        { change_set_id: second, verdict: 'accept' },
      ],
    })
    const conflict = {
      node: { path: 'a.py', qualified_name: 'two' },
      path: 'a.py',
      lines: { first: 1, last: 1 },
      text: 'a = 20\n',
      with: { change_set_id: first, node: { path: 'a.py', qualified_name: 'one' }, text: 'a = 10\n' },
    }
    expect(decided).toMatchObject({
      made: 1,
      refused_count: 1,
      refused: [{ change_set_id: second, error_code: 'WORK_001', conflict }],
    })
    const again = await post(runId, one(second, 'accept'))
    expect(again.status).toBe(409)
    expect(await again.json()).toMatchObject({
      error_code: 'WORK_001',
      detail: expect.stringContaining('a.py one'),
      refused_count: 1,
      refused: [{ change_set_id: second, agent: 'lint', qualified_name: 'two', error_code: 'WORK_001', conflict }],
    })
    await decide(runId, one(first, 'undo'))
    expect((await decide(runId, one(second, 'accept'))).made).toBe(1)
  })

  it('lets one of two people accept what collides', async () => {
    const runId = await played()
    const ids = [await idOf(runId, 'one'), await idOf(runId, 'two')]
    const answers = await Promise.all(ids.map((id) => post(runId, one(id, 'accept'))))
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 409]))
    expect((await api.ledger.verify(runId)).violations).toEqual([])
  })

  it('refuses a decision on what somebody else has decided since', async () => {
    const runId = await played()
    const id = await idOf(runId, 'one')
    await decide(runId, one(id, 'reject', { version: 0 }))
    const late = await post(runId, one(id, 'accept', { version: 0 }))
    expect(late.status).toBe(409)
    expect(await late.json()).toMatchObject({ error_code: 'WORK_003', detail: expect.stringContaining('rejected') })
    const version = (await changes(runId)).find(({ change_set_id: other }) => other === id)?.decision?.version
    expect((await decide(runId, one(id, 'accept', { version }))).made).toBe(1)
  })

  it('decides on all that a filter finds', async () => {
    const runId = await played()
    expect(await decide(runId, { where: { agent: 'docstring' }, verdict: 'accept' })).toMatchObject({ made: 0 })
    const all = await decide(runId, { where: { path: '*.py', evidence: 'passed' }, verdict: 'accept' })
    expect(all).toMatchObject({ made: 2, refused_count: 1, refused: [{ error_code: 'WORK_001' }] })
    expect(all['by_agent']).toEqual({ lint: { made: 2, before: 0, refused: 1 } })
    const again = await decide(runId, { where: { path: '*.py', evidence: 'passed' }, verdict: 'accept' })
    expect(again['by_agent']).toEqual({ lint: { made: 0, before: 2, refused: 1 } })
    expect(await verdictsOf(runId)).toEqual({ one: 'accepted', two: 'pending', three: 'accepted' })
    const rest = await decide(runId, { where: { verdict: 'pending' }, verdict: 'reject', reason: 'no' })
    expect(rest).toMatchObject({ made: 1, decisions: [{ verdict: 'rejected', decision: { reason: 'no' } }] })
    const accepted = (await changes(runId, '&verdict=accepted')).map(({ qualified_name: name }) => name)
    expect(accepted).toEqual(['one', 'three'])
    expect(await changes(runId, '&path=other/')).toEqual([])
    const no = { where: {}, verdict: 'reject', reason: 'all of it' }
    expect(await decide(runId, no)).toMatchObject({ made: 0, left_alone: 3, decisions: [], refused: [] })
    expect(await decide(runId, { ...no, also_decided: true })).toMatchObject({ made: 3, left_alone: 0 })
  })

  it('takes what is said of all for each that says nothing else', async () => {
    const runId = await played()
    const ids = await Promise.all(['one', 'three'].map((name) => idOf(runId, name)))
    const decisions = [{ change_set_id: ids[0] }, { change_set_id: ids[1], verdict: 'accept', retry: false }]
    const all = { verdict: 'reject', reason: 'too long', retry: true }
    expect(await decide(runId, { decisions, ...all })).toMatchObject({
      decisions: [{ verdict: 'rejected', decision: { reason: 'too long' } }, { verdict: 'accepted' }],
      retry: { operations: 1 },
    })
    expect((await post(runId, { decisions })).status).toBe(422)
    expect((await post(runId, { decisions, ...all, verdict: 'undo' })).status).toBe(422)
  })

  it('answers a set that is not there with 404, and a body that says nothing with 422', async () => {
    const runId = await played()
    expect((await post(runId, one('c000', 'accept'))).status).toBe(404)
    const both = { ...one('c000', 'accept'), where: {}, verdict: 'accept' }
    for (const body of [
      {},
      { where: {} },
      { decisions: [] },
      both,
      { ...one('c000', 'accept'), also_decided: true },
      { verdict: 'accept' },
      one('c0', 'love'),
    ]) {
      expect((await post(runId, body)).status, JSON.stringify(body)).toBe(422)
    }
    expect((await post(runId, { where: { path: '{'.repeat(50) }, verdict: 'accept' })).status).toBe(422)
    for (const reason of ['', ' \n'])
      expect((await post(runId, { where: {}, verdict: 'reject', reason })).status).toBe(422)
  })

  it('stay on what a retry does not make anew, and may be changed while that goes on', async () => {
    const former = await playRun(api, [
      changing('one', 0, 5, 'a = 10'),
      { name: 'two', fails: { code: 'AGENT_004', reason: 'no' } },
    ])
    await composeRun(api, former, { files: [] })
    const id = await idOf(former, 'one')
    await decide(former, one(id, 'reject', { reason: 'no' }))
    const answer = await api.ask(`/v1/runs/${former}/retry`, { method: 'POST' })
    const { run_id: retry } = z.looseObject({ run_id: z.string() }).parse(await answer.json())
    expect(await changes(retry)).toMatchObject([{ generation: 1, verdict: 'rejected', is_redone: false }])
    await decide(retry, one(id, 'accept'))
    expect(await verdictsOf(former)).toEqual({ one: 'accepted' })
    const { operationId } = plannedOperation('one')
    const ofOperation = await changes(retry, `&operation_id=${operationId}`)
    expect(ofOperation.map(({ change_set_id: shown }) => shown)).toEqual([id])
  })
})

describe('GET /v1/runs/{run_id}/patch after a decision', () => {
  /** Asks for the patch, and waits until a worker is asked to compose it. */
  async function asked(runId: string) {
    const jobs = api.jobs.length
    const answer = api.ask(`/v1/runs/${runId}/patch?of=accepted`)
    await until(() => api.jobs, { holds: ({ length }) => length > jobs })
    const { last: decided } = await api.ledger.readDecisions(runId)
    return { answer, decided, jobs: api.jobs.slice(jobs) }
  }

  it('waits for the worker that composes it, whom two people ask once', async () => {
    const runId = await played()
    await decide(runId, one(await idOf(runId, 'three'), 'accept'))
    const [first, second] = [await asked(runId), await asked(runId)]
    expect(second.jobs).toEqual(first.jobs)
    const [resultHash] = await api.blobs.putMany(api.project, [Buffer.from('a = 1\nb = 2\nc = 30\n')])
    const file = { path: 'a.py', baseHash, resultHash: resultHash ?? '', changeSetIds: [], evidence: [] }
    const composition: Composition = { v: 1, runId, of: 'accepted', files: [file], conflicts: [] }
    const compositionKey = await putComposition(
      api.objects,
      { projectId: api.project, runId: composition.runId },
      composition,
    )
    await api.ledger.notePatch(runId, { of: 'accepted', note: { decided: first.decided, compositionKey } })
    for (const { answer } of [first, second]) expect(await (await answer).text()).toContain('+c = 30')
    const again = await api.ask(`/v1/runs/${runId}/patch?of=accepted`)
    expect(again.status).toBe(200)
  })

  it('answers with the fault for which it cannot be composed, until somebody decides anew', async () => {
    const runId = await played()
    const id = await idOf(runId, 'three')
    await decide(runId, one(id, 'accept'))
    const { answer, decided } = await asked(runId)
    const fault = { decided, errorCode: 'STORE_003', reason: 'a record is gone', at: Date.now() }
    await api.ledger.notePatch(runId, { of: 'accepted', note: fault })
    expect(await (await answer).json()).toMatchObject({ error_code: 'STORE_003' })
    const jobs = api.jobs.length
    expect(await (await api.ask(`/v1/runs/${runId}/patch?of=accepted`)).json()).toMatchObject({
      error_code: 'STORE_003',
    })
    expect(api.jobs.length).toBe(jobs)
    await decide(runId, one(id, 'undo'))
    const next = await asked(runId)
    const composition: Composition = { v: 1, runId, of: 'accepted', files: [], conflicts: [] }
    const compositionKey = await putComposition(
      api.objects,
      { projectId: api.project, runId: composition.runId },
      composition,
    )
    await api.ledger.notePatch(runId, { of: 'accepted', note: { decided: next.decided, compositionKey } })
    expect((await next.answer).status).toBe(204)
  })

  it('is tried again when the fault is old', async () => {
    const runId = await played()
    await decide(runId, one(await idOf(runId, 'three'), 'accept'))
    const { last: decided } = await api.ledger.readDecisions(runId)
    const fault = { decided, errorCode: 'TOOL_004', reason: 'a bug that was mended', at: Date.now() - 3_600_000 }
    await api.ledger.notePatch(runId, { of: 'accepted', note: fault })
    const { answer } = await asked(runId)
    await api.ledger.notePatch(runId, { of: 'accepted', note: { ...fault, at: Date.now() } })
    expect(await (await answer).json()).toMatchObject({ error_code: 'TOOL_004' })
  })
})
