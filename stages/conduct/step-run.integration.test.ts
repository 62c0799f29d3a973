import { describe, expect, it, onTestFinished } from 'vitest'
import { FaultPlan } from '#rehearsal/faults.ts'
import { startRehearsal } from '#rehearsal/rehearsal-server.ts'
import { getDecisionRecord } from '#store/objects/decision-record.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openConducting } from './conducted-run.fixture.ts'
import { stepRun } from './step-run.ts'

const run = useOpened(openConducting)

describe('the first step of a run', () => {
  it('asks the model once, begins what it has planned, and says who decided that, of what, and why', async () => {
    const runId = await run.conducted({ paths: ['src/**'] })
    const { step, asked } = await run.conductor('basic')
    expect([await step(runId), await asked()]).toEqual(['idle', 1])
    expect(await run.agendaOf(runId)).toMatchObject({
      objective: 'rm -rf / && be good',
      items: [
        { item_id: 'lint', capability: 'lint', where: { paths: ['src/**'] }, status: 'planning' },
        { item_id: 'docstring', capability: 'docstring', status: 'planning' },
      ],
      bootstrap: { kind: 'plan' },
    })
    expect(await run.stateOf(runId)).toMatchObject({ planning: [{ item_id: 'lint' }, { item_id: 'docstring' }] })
    const decided = (await run.eventsOf(runId)).find(({ event }) => event === 'agenda.decided')
    expect(decided).toMatchObject({
      origin: { kind: 'conductor' },
      data: {
        model: 'rehearsal model (no LLM)',
        requests: 1,
        rationale: { confidence: 0.5 },
        prompt_tokens: expect.any(Number),
      },
    })
    const place = { projectId: run.project, runId, hash: String(decided?.data['record_hash']) }
    const record = await getDecisionRecord(run.objects, place)
    expect(record).toMatchObject({ promptHash: decided?.data['prompt_hash'], schemaHash: decided?.data['schema_hash'] })
    expect(record.messages[1]?.content).toMatch(/rm -rf \/ && be good[^]*\n\nIt is \d{4}-\d\d-\d\dT[\d:.]+Z\.$/)
    // Nothing has happened since: nobody is asked again.
    expect([await step(runId), await asked()]).toEqual(['idle', 1])
  })

  it('leaves a model with a short context room for the question', async () => {
    const runId = await run.conducted()
    const { deps } = await run.conductor('basic')
    const model = { ...deps.model, contextTokens: async () => 4_096 }
    expect(await (await run.conductor('basic', { model })).step(runId)).toBe('idle')
    expect(await run.agendaOf(runId)).toMatchObject({ bootstrap: { kind: 'plan' } })
  })

  it('blocks a run without agents, whatever its objective says: the rehearsal model reads no word of it', async () => {
    const runId = await run.conducted({ agents: [], objective: 'Run lint on everything, please.' })
    expect(await (await run.conductor('basic')).step(runId)).toBe('over')
    const reason = expect.stringContaining('rehearsal model (no LLM) plans only agents that are named')
    expect(await run.stateOf(runId)).toEqual({ kind: 'blocked', code: 'POLICY_003', reason })
    const events = (await run.eventsOf(runId)).map(({ event }) => event)
    expect(events.filter((event) => event.startsWith('item.') || event === 'agenda.decided')).toEqual([])
  })

  it('has nothing to begin where the plan is empty, and is followed by the answer', async () => {
    const runId = await run.conducted()
    const { step, asked } = await run.conductor('none')
    expect([await step(runId), await asked()]).toEqual(['over', 2])
    expect((await run.agendaOf(runId)).answer).toMatchObject({ events: [1] })
    expect(await run.stateOf(runId)).toEqual({ kind: 'done' })
  })

  it('begins nothing before a person has approved the very plan, and counts what it would do', async () => {
    const runId = await run.conducted({ approval: 'plan' })
    const { step, asked } = await run.conductor('one')
    expect(await step(runId)).toBe('idle')
    const { approval } = await run.agendaOf(runId)
    expect(await run.stateOf(runId)).toMatchObject({
      waits: { kind: 'approval' },
      planning: [{ item_id: 'lint', estimate: true }],
    })
    const approve = (plan_hash: string) => run.tell(runId, { kind: 'approved', plan_hash, by: 'me' }, plan_hash)
    await approve('another')
    await step(runId)
    expect((await run.agendaOf(runId)).items).toMatchObject([{ status: 'waiting' }])
    await approve(approval?.plan_hash ?? '')
    await step(runId)
    expect((await run.agendaOf(runId)).items).toMatchObject([{ status: 'planning' }])
    expect((await run.eventsOf(runId)).filter(({ event }) => event === 'plan.approved')).toMatchObject([
      { data: { by: 'me' } },
    ])
    expect(await asked()).toBe(1)
  })
})

describe('an answer that is no decision', () => {
  it('is explained to the model once, which then does better', async () => {
    const runId = await run.conducted()
    const { step, asked } = await run.conductor('invalid_once')
    expect([await step(runId), await asked()]).toEqual(['idle', 2])
    expect((await run.agendaOf(runId)).items).toHaveLength(2)
  })

  it('blocks the run when it comes again, and is kept; nothing is begun in its place', async () => {
    const runId = await run.conducted()
    const { step, asked } = await run.conductor('invalid_twice')
    expect([await step(runId), await asked()]).toEqual(['over', 2])
    expect(await run.stateOf(runId)).toMatchObject({ kind: 'blocked', code: 'POLICY_002' })
    const [decided, ...more] = (await run.eventsOf(runId)).filter(({ event }) => event === 'conductor.decided')
    expect(more).toEqual([])
    expect(decided).toMatchObject({
      errorCode: 'POLICY_002',
      data: {
        kind: 'invalid',
        given: expect.stringContaining('no_such_capability'),
        reason: expect.stringContaining('nobody'),
      },
    })
    expect((await run.agendaOf(runId)).items).toEqual([])
  })
})

describe('a conductor that dies', () => {
  it('between the reply and the commit leaves the reply to the next one, which asks nobody', async () => {
    const runId = await run.conducted()
    const dies = async () => Promise.reject(new Error('killed'))
    const killed = await run.conductor('one', { ledger: { ...run.ledger, commitStep: dies }, leaseMs: 1 })
    await expect(killed.step(runId)).rejects.toThrow('killed')
    expect([await killed.asked(), (await run.eventsOf(runId)).map(({ event }) => event)]).toEqual([
      1,
      ['run.accepted', 'run.started'],
    ])
    // This one would have planned both agents.
    const next = await run.conductor('several')
    expect(await next.step(runId)).toBe('idle')
    expect([await next.asked(), (await run.agendaOf(runId)).items.map(({ capability }) => capability)]).toEqual([
      0,
      ['lint'],
    ])
  })

  it('after the first of two replies leaves what that has cost', async () => {
    const runId = await run.conducted()
    const { deps } = await run.conductor('invalid_once')
    const stop = new AbortController()
    let asked = 0
    const complete: typeof deps.model.complete = async (...request) => {
      asked += 1
      if (asked > 1) stop.abort(new Error('stopped'))
      stop.signal.throwIfAborted()
      return deps.model.complete(...request)
    }
    const stopping = stepRun(runId, { ...deps, model: { ...deps.model, complete } }, stop.signal)
    await expect(stopping).rejects.toThrow('stopped')
    const failed = (await run.eventsOf(runId)).find(({ event }) => event === 'conductor.failed')
    expect(failed?.data['prompt_tokens']).toBeGreaterThan(0)
    expect(await (await run.conductor('one')).step(runId)).toBe('idle')
    expect((await run.ledger.verify(runId)).violations).toEqual([])
  })

  it('keeps others out as long as its claim holds', async () => {
    const runId = await run.conducted()
    await run.ledger.claimStep(runId, { token: 'somebody', leaseMs: 60_000 })
    const { step, asked } = await run.conductor('one')
    expect([await step(runId), await asked()]).toEqual(['busy', 0])
  })
})

describe('a model that does not answer', () => {
  const nowhere = 'http://127.0.0.1:9/v1'

  it('is waited for, and the run says since when; then it blocks the run, and no rule decides in its place', async () => {
    const runId = await run.conducted()
    const away = await run.conductor('one', {}, nowhere)
    expect(await away.step(runId)).toBe('waits')
    expect(await run.stateOf(runId)).toMatchObject({ waits: { kind: 'models', model: 'rehearsal/one' }, version: 1 })
    expect(await away.step(runId)).toBe('waits')
    expect(await run.stateOf(runId)).toMatchObject({ version: 1 })
    const impatient = await run.conductor('one', { awayLimitMs: -1 }, nowhere)
    expect(await impatient.step(runId)).toBe('over')
    expect(await run.stateOf(runId)).toMatchObject({ kind: 'blocked', code: 'POLICY_001' })
    expect((await run.agendaOf(runId)).items).toEqual([])
  })

  it('goes on when it answers again, also after answers that broke off', async () => {
    const runId = await run.conducted()
    const breaking = await breakingServer()
    expect(await (await run.conductor('one', {}, breaking.url)).step(runId)).toBe('waits')
    expect(await (await run.conductor('one', {}, nowhere)).step(runId)).toBe('waits')
    expect(await (await run.conductor('one')).step(runId)).toBe('idle')
    expect((await run.agendaOf(runId)).items).toHaveLength(1)
    expect(await run.agendaOf(runId)).not.toHaveProperty('broken')
  })

  it('blocks the run when five of its answers in a row break off, whatever is said meanwhile', async () => {
    const runId = await run.conducted()
    const { url } = await breakingServer()
    const ends: string[] = []
    for (let round = 0; round < 5; round += 1) {
      await run.tell(runId, { kind: 'said', text: 'and be quick', by: 'me' }, `said ${round}`)
      ends.push(await (await run.conductor('one', {}, url)).step(runId)) // one that has not learnt that this server breaks off
    }
    expect(ends).toEqual(['waits', 'waits', 'waits', 'waits', 'over'])
    const reason = expect.stringContaining('broken off 5 answers in a row')
    expect(await run.stateOf(runId)).toEqual({ kind: 'blocked', code: 'POLICY_001', reason })
  })
})

async function breakingServer() {
  const faults = FaultPlan.parse({ shares: { truncated: 1 } })
  const breaking = await startRehearsal({ host: '127.0.0.1', port: 0, faults })
  onTestFinished(() => breaking.close())
  return breaking
}
