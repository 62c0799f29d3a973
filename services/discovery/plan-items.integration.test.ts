import { describe, expect, it } from 'vitest'
import type { AgendaView } from '#store/ledger/conductor-steps.ts'
import type { RunId } from '#domain/ids.ts'
import type { Run, RunRequest } from '#domain/run.ts'
import { newToken, recordId } from '#domain/ids.ts'
import { getItemReads } from '#store/objects/stored-records.ts'
import { getRepositoryRules } from '#store/objects/repository-rules.ts'
import { openStageJobs } from '#stages/dispatch/stage-jobs.ts'
import { anItem, dispatchItems, takeStep } from '#testing/conducted-run.ts'
import { anOutcome, claimReady, endRun, settleAll } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { runDiscoveryStage } from './discovery-stage.ts'
import { openStages } from './open-stages.fixture.ts'

const stages = useOpened(openStages)

const files = {
  'shop/stock.py':
    'import os\n\n\ndef label(row):\n    return f"shelf" + row\n\n\ndef total():\n    return undefined\n',
  'shop/price.py': 'def rounded(price):\n    return price\n',
  'market/make.py': 'def make():\n    return missing\n',
}

/** A run with an objective whose nodes are found, and whose conductor may decide. */
async function conducted(request: Partial<RunRequest> = {}): Promise<RunId> {
  const { deps, signal, inDiscovery } = stages
  const labels = { 'remora.model': 'servers' }
  const runId = await inDiscovery(files, { agents: [], objective: 'Mend it.', labels, ...request })
  expect(await runDiscoveryStage(runId, deps, signal)).toBe('ok')
  return runId
}

const plan = (runId: RunId) => runDiscoveryStage(runId, stages.deps, stages.signal)

async function namesOf(runId: RunId): Promise<string[]> {
  const { operations } = await stages.stores.ledger.listOperations(runId, { limit: 100 })
  return operations.map(({ itemId, bundle, node }) => `${itemId}: ${bundle} ${node.qualifiedName}`)
}

async function agendaOf(runId: RunId): Promise<AgendaView> {
  const agenda = await stages.stores.ledger.readAgenda(runId)
  if (agenda === undefined) throw new Error('it has an objective')
  return agenda
}

/** The queues that a dispatcher adds jobs of the run to. */
async function jobsOf(run: Run): Promise<string[]> {
  const added: string[] = []
  await openStageJobs({ add: async (queue) => void added.push(queue) }).ensure(run)
  return added
}

describe('planning the items of an agenda', () => {
  it('makes operations of each where it is to work, while the run executes', async () => {
    const { ledger } = stages.stores
    const runId = await conducted()
    const begun = await ledger.getRun(runId)
    expect(begun).toMatchObject({ phase: 'execution', isPlanned: true, conductor: { kind: 'open', version: 0 } })
    expect(await jobsOf(begun)).toEqual(['conductor'])
    const shop = anItem('shop', { where: { paths: ['shop'] } })
    const where = { names: ['{label,total}', 'm*'] }
    const docs = anItem('docs', { capability: 'docstring', where, budget: { operations: 1 }, depends_on: ['shop'] })
    await dispatchItems(ledger, runId, shop, docs)
    expect(await jobsOf(await ledger.getRun(runId))).toEqual(['discoveries'])
    expect(await plan(runId)).toBe('ok')
    expect(await namesOf(runId)).toEqual(['shop: lint shop/stock.py', 'shop: lint total', 'docs: docstring make'])
    const { projectId, rulesKey } = await ledger.getRun(runId)
    const rules = await getRepositoryRules(stages.stores.objects, { projectId, runId, hash: rulesKey ?? '' })
    expect(rules.files['shop/stock.py']?.agentRanges).toHaveLength(1) // of the first item, which still executes
    expect(Object.keys(rules.files)).toEqual(Object.keys(files).toSorted())
    await settleAll(ledger, runId)
    const { counts } = await agendaOf(runId)
    expect(counts.get('shop')).toMatchObject({ planned: 2, open: 0, ended: { succeeded: 2 } })
    expect(counts.get('docs')).toMatchObject({ planned: 1, ended: { succeeded: 1 }, left: 2 }) // beyond its limit
    const reads = await getItemReads(stages.stores.objects, { projectId, runId, hash: counts.get('docs')?.reads ?? '' })
    expect(reads.paths).toEqual(['market/make.py'])
    expect(await jobsOf(await ledger.getRun(runId))).toEqual(['conductor'])
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('does once more what another item did, starts from what it depends on, and leaves out what is done', async () => {
    const { ledger } = stages.stores
    const runId = await conducted()
    await dispatchItems(ledger, runId, anItem('market', { where: { paths: ['market'] } }))
    await plan(runId)
    const [first] = (await ledger.listOperations(runId, { limit: 1 })).operations
    await settleAll(ledger, runId)
    const all = anItem('all', { depends_on: ['market'] })
    await dispatchItems(ledger, runId, all, anItem('docs', { capability: 'docstring', where: { paths: ['market'] } }))
    await plan(runId)
    const { operations } = await ledger.listOperations(runId, { limit: 100 })
    const again = operations.find(({ repeats }) => repeats !== null)
    expect(again).toMatchObject({ itemId: 'all', generation: 2, repeats: { operationId: first?.operationId } })
    expect(again?.operationId).toBe(recordId(first?.operationId ?? '', 2))
    const docs = operations.find(({ bundle }) => bundle === 'docstring')
    expect(docs?.startsFrom).toEqual([]) // what it would start from is under way
    await settleAll(ledger, runId)
    await dispatchItems(ledger, runId, all)
    await plan(runId)
    expect((await agendaOf(runId)).counts.get('all')).toMatchObject({ planned: 0, open: 0 })
    const later = anItem('later', { capability: 'docstring', where: { paths: ['market'] }, depends_on: ['all'] })
    await dispatchItems(ledger, runId, later)
    await plan(runId)
    const last = (await ledger.listOperations(runId, { limit: 100 })).operations.at(-1)
    expect(last).toMatchObject({ itemId: 'later', startsFrom: [again?.operationId] })
    await settleAll(ledger, runId)
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('does once more, when it is tried again, what it has not done as a whole, and knows what others have not done yet', async () => {
    const { ledger } = stages.stores
    const runId = await conducted()
    const shop = anItem('shop', { where: { paths: ['shop'] } })
    await dispatchItems(ledger, runId, shop, anItem('all'))
    await plan(runId)
    const [whole, part] = await claimReady(ledger, runId)
    if (whole === undefined || part === undefined) throw new Error('two were ready')
    await ledger.settle(whole, 1, { outcome: anOutcome(), events: [] })
    await ledger.settle(part, 1, { outcome: anOutcome({ leavesWork: true }), events: [] })
    await settleAll(ledger, runId)
    const before = (await agendaOf(runId)).counts
    expect([before.get('shop')?.left, before.get('all')]).toMatchObject([1, { planned: 1, left: 2 }])
    await dispatchItems(ledger, runId, shop)
    await plan(runId)
    await settleAll(ledger, runId)
    expect((await agendaOf(runId)).counts.get('shop')).toMatchObject({ planned: 1, left: 0 })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('asks several questions of one file, at the same time too, and the same once more only where it did not end well', async () => {
    const { ledger } = stages.stores
    const runId = await conducted()
    const ask = async (id: string) => {
      await dispatchItems(ledger, runId, anItem(id, { capability: 'researcher', where: { paths: ['shop/price.py'] } }))
      await plan(runId)
    }
    for (const id of ['what', 'why']) await ask(id)
    await settleAll(ledger, runId)
    await ask('how')
    await settleAll(ledger, runId)
    const asked = ['what', 'why', 'how'].map((id) => `${id}: researcher shop/price.py`)
    expect(await namesOf(runId)).toEqual(asked)
    const { operations } = await ledger.listOperations(runId, { limit: 100 })
    expect(operations.map(({ supersededBy }) => supersededBy)).toEqual([null, null, null])
    await ask('why')
    expect((await agendaOf(runId)).counts.get('why')?.planned).toBe(0) // this item has done it before
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('blocks an item whose agent the run does not have, and goes on with the next', async () => {
    const { ledger } = stages.stores
    const runId = await conducted({ agents: ['lint'] })
    await dispatchItems(ledger, runId, anItem('docs', { capability: 'docstring' }), anItem('lint'))
    expect([await plan(runId), await plan(runId)]).toEqual(['failed', 'ok'])
    const { counts } = await agendaOf(runId)
    const reason = 'item "docs" names the agent "docstring", the run has lint'
    expect(counts.get('docs')?.fault).toEqual({ error_code: 'INTAKE_006', reason })
    expect(counts.get('lint')?.planned).toBe(3)
    const events = await ledger.readEvents(runId, { after: 0, limit: 100 })
    expect(events.filter(({ event }) => event === 'item.blocked')).toHaveLength(1)
  })

  it('plans an item once, wherever the process died that planned it', async () => {
    const { deps, stores } = stages
    const { ledger } = stores
    const runId = await conducted({ agents: ['lint'] })
    await dispatchItems(ledger, runId, anItem('market', { where: { paths: ['market'] } }))
    const dying = (isStored: boolean) => {
      const end = new AbortController()
      const store: typeof ledger.plan = async (...slice) => {
        if (isStored) await ledger.plan(...slice)
        end.abort()
        throw new Error('the process ends here')
      }
      const dead = { ...deps, ledger: { ...deps.ledger, plan: store } }
      return runDiscoveryStage(runId, dead, end.signal).catch((error: unknown) => String(error))
    }
    for (const isStored of [false, true]) expect(await dying(isStored)).toContain('the process ends here')
    expect(await plan(runId)).toBe('idle')
    expect(await namesOf(runId)).toEqual(['market: lint make'])
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('begins when the environment of its programs is there', async () => {
    const { ledger } = stages.stores
    const runId = await conducted({ agents: ['test'], setup: 'pip install -e .' })
    const run = await ledger.getRun(runId)
    const environment = { kind: 'wanted', command: 'pip install -e .' }
    expect(run).toMatchObject({ phase: 'planning', environment, conductor: { kind: 'open' } })
    expect(await jobsOf(run)).toEqual(['setups'])
  })

  it('only counts the operations of a dry run, and says what they would cost', async () => {
    const { ledger } = stages.stores
    const runId = await conducted({ dryRun: true })
    await dispatchItems(ledger, runId, anItem('shop', { where: { paths: ['shop'] } }))
    await plan(runId)
    expect(await namesOf(runId)).toEqual([])
    const counts = (await agendaOf(runId)).counts.get('shop')
    expect(counts).toMatchObject({ planned: 0, estimate: { operations: 2, tokens: expect.any(Number) } })
    expect(counts?.estimate?.tokens).toBeGreaterThan(0)
  })

  it('is left to the conductor again by a retry that names nothing, and to no one by one that names operations', async () => {
    const { ledger } = stages.stores
    const runId = await conducted({ agents: ['lint'] })
    await dispatchItems(ledger, runId, anItem('market', { where: { paths: ['market'] } }))
    await plan(runId)
    await settleAll(ledger, runId)
    await takeStep(ledger, runId, { close: { kind: 'blocked', code: 'POLICY_001', reason: 'no way on' } })
    await endRun(ledger, runId, 'blocked')
    const reopen = async (wanted: Run['wanted']) => {
      const how = { wanted: wanted ?? {}, origin: { kind: 'api', id: 'q1' }, command: newToken() } as const
      await ledger.reopen(await ledger.getRun(runId), how)
      await plan(runId)
      return ledger.getRun(runId)
    }
    expect((await reopen({})).conductor).toMatchObject({ kind: 'open', messages: 1 })
    await takeStep(ledger, runId, { close: { kind: 'done' } })
    await endRun(ledger, runId)
    const [first] = (await ledger.listOperations(runId, { limit: 1 })).operations
    const named = await reopen({ operations: [first?.operationId ?? ''] })
    expect(named).toMatchObject({ conductor: null, phase: 'execution', counts: { ready: 1 } })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })
})
