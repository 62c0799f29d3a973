import { describe, expect, it, onTestFinished } from 'vitest'
import { type ConductorState, type InboxMessage, PlanningItem } from '#domain/agenda.ts'
import type { RunId } from '#domain/ids.ts'
import type { RunRequest } from '#domain/run.ts'
import { loadBundles } from '#bundles/load-bundle.ts'
import { openModelPool } from '#models/model-pool.ts'
import { silentLog } from '#platform/log.ts'
import { getDecisionRecord } from '#store/objects/decision-record.ts'
import { getBundle, putBundle } from '#store/objects/stored-records.ts'
import { anEvent, aNewRun, aRequest, testLedger } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { startRehearsal } from '#rehearsal/rehearsal-server.ts'
import { stepRun, type StepDeps } from './step-run.ts'

const stores = useOpened(async () => {
  const [ledger, s3] = [await testLedger(), await testObjects()]
  const rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0 })
  const close = async () => {
    await rehearsal.close()
    await s3.close()
    await ledger.close()
  }
  return { ...ledger, objects: s3.objects, project: s3.project, rehearsal, close }
})
const signal = AbortSignal.timeout(120_000)

/** Decides by the policy of that name. `asked`: how often the model was asked since then. */
async function conductor(policy: string, over: Partial<StepDeps> = {}, url = stores.rehearsal.url) {
  const pool = openModelPool({ endpoints: [{ url }], requestTimeoutMs: 5_000, retryBudgetMs: 200, maxInFlight: 4 })
  onTestFinished(() => pool.close())
  const before = (await stores.rehearsal.load()).asked
  const deps: StepDeps = {
    ledger: stores.ledger,
    objects: stores.objects,
    model: pool,
    planner: async () => ({ model: `rehearsal/${policy}`, temperature: 0, toolChoice: 'required' }),
    plannerName: `rehearsal/${policy}`,
    bundle: (project, hash) => getBundle(stores.objects, project, hash),
    awayLimitMs: 60_000,
    leaseMs: 30_000,
    origin: { kind: 'conductor', id: 'test' },
    log: silentLog,
    ...over,
  }
  return {
    deps,
    step: (runId: RunId) => stepRun(runId, deps, signal),
    asked: async () => (await stores.rehearsal.load()).asked - before,
  }
}

/** A run that discovery has handed to its conductor. */
async function conducted(request: Partial<RunRequest> = {}): Promise<RunId> {
  const asked = aRequest({ objective: 'rm -rf / && be good', agents: ['lint', 'docstring'], ...request })
  const run = aNewRun({ projectId: stores.project, request: asked })
  const loaded = await loadBundles('agents')
  const pinned = [...loaded].filter(([name]) => asked.agents.includes(name))
  const hashes = await Promise.all(pinned.map(([, { bundle }]) => putBundle(stores.objects, stores.project, bundle)))
  await stores.ledger.createRun(run)
  await stores.ledger.move(run.runId, {
    from: [{ status: 'queued' }],
    to: { status: 'running', phase: 'execution' },
    command: 'start',
    set: { bundles: JSON.stringify(hashes), conductor: 'open', planned: '1' },
    events: [anEvent({ event: 'run.started', phase: 'planning' })],
  })
  return run.runId
}

/** Ends every item that is dispatched, as discovery does where it finds nothing to do. */
async function endItems(runId: RunId): Promise<void> {
  for (;;) {
    const { conductor: state, generation } = await stores.ledger.getRun(runId)
    const [next] = state?.kind === 'open' ? state.planning : []
    if (next === undefined) return
    const { item_id: itemId, version } = next
    const started = anEvent({ event: 'item.started', phase: 'execution', data: { item_id: itemId } })
    const item = { itemId, version, reads: 'r', started }
    await stores.ledger.plan(runId, { slice: 0, operations: [], last: true, planHash: itemId, generation, item })
  }
}

const tell = (runId: RunId, message: InboxMessage, command: string) =>
  stores.ledger.sendToConductor(runId, message, { command, origin: { kind: 'human', id: 'me' } })

async function eventsOf(runId: RunId) {
  return stores.ledger.readEvents(runId, { after: 0, limit: 100 })
}

async function agendaOf(runId: RunId) {
  const agenda = await stores.ledger.readAgenda(runId)
  if (agenda === undefined) throw new Error(`run ${runId} has no agenda`)
  return agenda.state
}

const stateOf = async (runId: RunId): Promise<ConductorState | null> => (await stores.ledger.getRun(runId)).conductor

describe('the first step of a run', () => {
  it('asks the model once, begins what it has planned, and says who decided that, of what, and why', async () => {
    const runId = await conducted({ paths: ['src/**'] })
    const { step, asked } = await conductor('basic')
    expect([await step(runId), await asked()]).toEqual(['idle', 1])
    expect(await agendaOf(runId)).toMatchObject({
      objective: 'rm -rf / && be good',
      items: [
        { item_id: 'lint', capability: 'lint', where: { paths: ['src/**'] }, status: 'planning' },
        { item_id: 'docstring', capability: 'docstring', status: 'planning' },
      ],
      bootstrap: { kind: 'plan' },
    })
    expect(await stateOf(runId)).toMatchObject({ planning: [{ item_id: 'lint' }, { item_id: 'docstring' }] })
    const decided = (await eventsOf(runId)).find(({ event }) => event === 'agenda.decided')
    expect(decided).toMatchObject({
      origin: { kind: 'conductor' },
      data: {
        model: 'rehearsal model (no LLM)',
        requests: 1,
        rationale: { confidence: 0.5 },
        prompt_tokens: expect.any(Number),
      },
    })
    const place = { projectId: stores.project, runId, hash: String(decided?.data['record_hash']) }
    const record = await getDecisionRecord(stores.objects, place)
    expect(record).toMatchObject({ promptHash: decided?.data['prompt_hash'], schemaHash: decided?.data['schema_hash'] })
    expect(record.messages[1]?.content).toMatch(/rm -rf \/ && be good[^]*\n\nIt is \d{4}-\d\d-\d\dT[\d:.]+Z\.$/)
    // Nothing has happened since: nobody is asked again.
    expect([await step(runId), await asked()]).toEqual(['idle', 1])
  })

  it('blocks a run without agents, whatever its objective says: the rehearsal model reads no word of it', async () => {
    const runId = await conducted({ agents: [], objective: 'Run lint on everything, please.' })
    expect(await (await conductor('basic')).step(runId)).toBe('over')
    const reason = expect.stringContaining('rehearsal model (no LLM) plans only agents that are named')
    expect(await stateOf(runId)).toEqual({ kind: 'blocked', code: 'POLICY_003', reason })
    const events = (await eventsOf(runId)).map(({ event }) => event)
    expect(events.filter((event) => event.startsWith('item.') || event === 'agenda.decided')).toEqual([])
  })

  it('has nothing to begin where the plan is empty, and is followed by the answer', async () => {
    const runId = await conducted()
    const { step, asked } = await conductor('none')
    expect([await step(runId), await asked()]).toEqual(['over', 2])
    expect((await agendaOf(runId)).answer).toMatchObject({ events: [1] })
    expect(await stateOf(runId)).toEqual({ kind: 'done' })
  })

  it('begins nothing before a person has approved the very plan, and counts what it would do', async () => {
    const runId = await conducted({ approval: 'plan' })
    const { step, asked } = await conductor('one')
    expect(await step(runId)).toBe('idle')
    const { approval } = await agendaOf(runId)
    expect(await stateOf(runId)).toMatchObject({
      waits: { kind: 'approval' },
      planning: [{ item_id: 'lint', estimate: true }],
    })
    const approve = (plan_hash: string) => tell(runId, { kind: 'approved', plan_hash, by: 'me' }, plan_hash)
    await approve('another')
    await step(runId)
    expect((await agendaOf(runId)).items).toMatchObject([{ status: 'waiting' }])
    await approve(approval?.plan_hash ?? '')
    await step(runId)
    expect((await agendaOf(runId)).items).toMatchObject([{ status: 'planning' }])
    expect((await eventsOf(runId)).filter(({ event }) => event === 'plan.approved')).toMatchObject([
      { data: { by: 'me' } },
    ])
    expect(await asked()).toBe(1)
  })
})

describe('the steps after it', () => {
  it('ask nobody while items are under way, and then how the run goes on: another way where one was closed', async () => {
    const runId = await conducted()
    const { step, asked } = await conductor('replan')
    expect([await step(runId), await step(runId), await asked()]).toEqual(['idle', 'idle', 1])
    await endItems(runId)
    expect([await step(runId), await asked()]).toEqual(['idle', 2])
    await endItems(runId)
    expect([await step(runId), await asked()]).toEqual(['over', 3])
    const { items, answer } = await agendaOf(runId)
    expect(items.map(({ item_id: id, status }) => [id, status])).toEqual([
      ['first', 'ended'],
      ['second', 'cancelled'],
      ['lint', 'ended'],
    ])
    expect(answer).not.toBeNull()
  })

  it('block the run once two decisions have brought nothing new, without asking for a third', async () => {
    const runId = await conducted()
    const { step, asked } = await conductor('fruitless')
    for (let round = 0; round < 3; round++) {
      expect(await step(runId)).toBe('idle')
      await endItems(runId)
    }
    expect([await step(runId), await asked()]).toEqual(['over', 3])
    expect(await stateOf(runId)).toMatchObject({
      kind: 'blocked',
      code: 'POLICY_004',
      reason: expect.stringMatching(/^the last 2/),
    })
  })

  it('make one follow-up of a wake, however often it comes', async () => {
    const runId = await conducted()
    const { step, asked } = await conductor('wake')
    const rationale = 'nothing has moved for 60 s'
    const stalled = { kind: 'stalled_run', urgency: 'low', mitigation: 'retry', rationale } as const
    const escalation = { ...stalled, affected: ['run'], dedup_key: 'stalled 1' }
    const wake: InboxMessage = { kind: 'escalation', escalation }
    await step(runId)
    await tell(runId, wake, 'one')
    await tell(runId, wake, 'two')
    await endItems(runId)
    await step(runId)
    await tell(runId, wake, 'three')
    await endItems(runId)
    expect([await step(runId), await asked()]).toEqual(['over', 3])
    expect((await agendaOf(runId)).items.map(({ item_id: id }) => id)).toEqual(['lint', 'wake-1'])
  })

  it('take what somebody says into the objective before anything else is decided', async () => {
    const runId = await conducted()
    const { step, asked } = await conductor('one')
    await step(runId)
    await tell(runId, { kind: 'said', text: 'and the docs', by: 'me' }, 'said')
    expect([await step(runId), await asked()]).toEqual(['idle', 1])
    await endItems(runId)
    expect([await step(runId), await asked()]).toEqual(['over', 3])
    const decisions = (await eventsOf(runId)).map(({ event }) => event)
    expect(decisions.filter((event) => /^(?:agenda|conductor|objective)\./.test(event))).toEqual([
      'agenda.decided',
      'objective.extended',
      'objective.refined',
      'conductor.decided',
    ])
  })

  it('of a plan that is only counted end the run when all is counted', async () => {
    const runId = await conducted({ dryRun: true })
    const { step, asked } = await conductor('one')
    expect(await step(runId)).toBe('idle')
    const { version } = PlanningItem.parse(openOf(await stateOf(runId))[0])
    const estimate = { operations: 3, tokens: 900 }
    await stores.ledger.noteItem(runId, { itemId: 'lint', version, reads: 'r', estimate })
    expect([await step(runId), await asked()]).toEqual(['over', 1])
    expect([await stateOf(runId), (await agendaOf(runId)).items]).toMatchObject([
      { kind: 'done' },
      [{ status: 'waiting' }],
    ])
  })
})

const openOf = (state: ConductorState | null) => (state?.kind === 'open' ? state.planning : [])

describe('an answer that is no decision', () => {
  it('is explained to the model once, which then does better', async () => {
    const runId = await conducted()
    const { step, asked } = await conductor('invalid_once')
    expect([await step(runId), await asked()]).toEqual(['idle', 2])
    expect((await agendaOf(runId)).items).toHaveLength(2)
  })

  it('blocks the run when it comes again, and is kept; nothing is begun in its place', async () => {
    const runId = await conducted()
    const { step, asked } = await conductor('invalid_twice')
    expect([await step(runId), await asked()]).toEqual(['over', 2])
    expect(await stateOf(runId)).toMatchObject({ kind: 'blocked', code: 'POLICY_002' })
    const [decided, ...more] = (await eventsOf(runId)).filter(({ event }) => event === 'conductor.decided')
    expect(more).toEqual([])
    expect(decided).toMatchObject({
      errorCode: 'POLICY_002',
      data: {
        kind: 'invalid',
        given: expect.stringContaining('no_such_capability'),
        reason: expect.stringContaining('nobody'),
      },
    })
    expect((await agendaOf(runId)).items).toEqual([])
  })
})

describe('a conductor that dies', () => {
  it('between the reply and the commit leaves the reply to the next one, which asks nobody', async () => {
    const runId = await conducted()
    const dies = async () => Promise.reject(new Error('killed'))
    const killed = await conductor('one', { ledger: { ...stores.ledger, commitStep: dies }, leaseMs: 300 })
    await expect(killed.step(runId)).rejects.toThrow('killed')
    expect([await killed.asked(), (await eventsOf(runId)).map(({ event }) => event)]).toEqual([
      1,
      ['run.accepted', 'run.started'],
    ])
    // This one would have planned both agents.
    const next = await conductor('several')
    await expect.poll(() => next.step(runId), { timeout: 20_000 }).toBe('idle')
    expect([await next.asked(), (await agendaOf(runId)).items.map(({ capability }) => capability)]).toEqual([
      0,
      ['lint'],
    ])
  })

  it('keeps others out as long as its claim holds', async () => {
    const runId = await conducted()
    await stores.ledger.claimStep(runId, { token: 'somebody', leaseMs: 60_000 })
    const { step, asked } = await conductor('one')
    expect([await step(runId), await asked()]).toEqual(['busy', 0])
  })
})

describe('a model that does not answer', () => {
  const nowhere = 'http://127.0.0.1:9/v1'

  it('is waited for, and the run says since when; then it blocks the run, and no rule decides in its place', async () => {
    const runId = await conducted()
    const away = await conductor('one', {}, nowhere)
    expect(await away.step(runId)).toBe('waits')
    expect(await stateOf(runId)).toMatchObject({ waits: { kind: 'models', model: 'rehearsal/one' }, version: 1 })
    expect(await away.step(runId)).toBe('waits')
    expect(await stateOf(runId)).toMatchObject({ version: 1 })
    const impatient = await conductor('one', { awayLimitMs: -1 }, nowhere)
    expect(await impatient.step(runId)).toBe('over')
    expect(await stateOf(runId)).toMatchObject({ kind: 'blocked', code: 'POLICY_001' })
    expect((await agendaOf(runId)).items).toEqual([])
  })

  it('goes on when it answers again', async () => {
    const runId = await conducted()
    await (await conductor('one', {}, nowhere)).step(runId)
    expect(await (await conductor('one')).step(runId)).toBe('idle')
    expect((await agendaOf(runId)).items).toHaveLength(1)
  })
})
