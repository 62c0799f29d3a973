import { describe, expect, it } from 'vitest'
import { newToken, operationId, type RunId, sha256 } from '#domain/ids.ts'
import type { Operation } from '#domain/operation.ts'
import type { Run, RunRequest, WantedWork } from '#domain/run.ts'
import { getPlanSummary, type PlanSummary } from '#store/objects/plan-summary.ts'
import { getRepositoryRules, pathRulesOf } from '#store/objects/repository-rules.ts'
import { anOutcome, endRun } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { runDiscoveryStage } from './discovery-stage.ts'
import { openStages } from './open-stages.fixture.ts'

const stages = useOpened(openStages)

type PlannedRun = { run: Run; operations: Operation[]; names: string[]; plan: PlanSummary | undefined; event: unknown }

/** A run that discovery has finished: its state in the ledger, and its plan. */
async function planned(
  files: Readonly<Record<string, string>>,
  request: Partial<RunRequest> = {},
): Promise<PlannedRun> {
  const { deps, signal, stores, inDiscovery } = stages
  const runId = await inDiscovery(files, request)
  await runDiscoveryStage(runId, deps, signal)
  const run = await stores.ledger.getRun(runId)
  const { operations } = await stores.ledger.listOperations(runId, { limit: 100 })
  const events = await stores.ledger.readEvents(runId, { after: 0, limit: 100 })
  const names = operations.map(({ bundle, work, node }) => `${bundle} ${work} ${node.qualifiedName}`)
  return {
    run,
    operations,
    names,
    plan: await planOf(run),
    event: events.find(({ event }) => event === 'run.planned')?.data,
  }
}

async function planOf({ projectId, runId, planKey: hash }: Run): Promise<PlanSummary | undefined> {
  return hash === null ? undefined : getPlanSummary(stages.stores.objects, { projectId, runId, hash })
}

const faulty = {
  'shop/stock.py':
    'import os\n\n\ndef label(row):\n    return f"shelf" + row\n\n\ndef total():\n    return undefined\n\n\ndef two():\n    return 2\n',
  'shop/clean.py': 'x = 1\n',
}
const servers = { labels: { 'remora.model': 'servers' } }

describe('planning a run', () => {
  it('plans an agent where it is needed, safe fixes once per file, and nothing where there is no fault', async () => {
    const { run, names, plan, event } = await planned(faulty, servers)
    expect(names).toEqual(['lint mechanical shop/stock.py', 'lint agent total'])
    expect(run.phase).toBe('execution')
    expect(plan?.agents['lint']).toMatchObject({
      lookedAt: 5,
      planned: 1,
      mechanical: 1,
      skipped: [
        { reason: 'no lint fault', count: 2, examples: ['shop/clean.py', 'shop/stock.py:12 two'] },
        {
          reason: 'its lint faults are fixed by the operation on an enclosing node',
          count: 1,
          examples: ['shop/stock.py:4 label'],
        },
      ],
      folders: [{ path: 'shop', planned: 2 }],
    })
    const looked = { looked_at: 5, nodes_looked_at: 5, beyond_limit: 0 }
    expect(event).toMatchObject({ operations: 2, ...looked, agents: { lint: { planned: 1, mechanical: 1 } } })
  })

  it('keeps the rules of the repository for the workers, and where the agents work', async () => {
    const { run, operations } = await planned({ ...faulty, 'ruff.toml': 'line-length = 100\n' }, servers)
    const ref = { projectId: run.projectId, runId: run.runId, hash: run.rulesKey ?? '' }
    const rules = await getRepositoryRules(stages.stores.objects, ref)
    expect(pathRulesOf(rules, 'shop/stock.py').text.lineLength).toBe(100)
    expect(rules.configs).toEqual([{ path: 'ruff.toml', hash: sha256('line-length = 100\n') }])
    const asked = operations.filter(({ work }) => work === 'agent')
    expect(rules.files['shop/stock.py']?.agentRanges).toEqual(
      asked.map(({ operationId: id, node: { startByte, endByte } }) => ({ operationId: id, startByte, endByte })),
    )
  })

  it.each([
    ['on', undefined, ['wanted', './of-bundle']],
    ['asked', undefined, [undefined, undefined]],
    ['asked', 'npm ci', ['wanted', 'npm ci']],
    ['off', 'npm ci', ['failed', 'npm ci']],
  ] as const)('with setups %s and %s in the request waits for that setup alone', async (setups, setup, expected) => {
    const { deps, signal, stores, inDiscovery } = stages
    const runId = await inDiscovery(faulty, { ...servers, ...(setup && { setup }) })
    const pinBundles: typeof deps.pinBundles = async (...of) => {
      const bundles = await deps.pinBundles(...of)
      return bundles.map((pinned) => {
        const file = { ...pinned.bundle.file, setup: './of-bundle' }
        return { ...pinned, bundle: { ...pinned.bundle, file } }
      })
    }
    await runDiscoveryStage(runId, { ...deps, pinBundles, setups }, signal)
    const { environment } = await stores.ledger.getRun(runId)
    expect([environment?.kind, environment?.command]).toEqual(expected)
  })

  /** Ends the run, which has executed, and plans what is wanted of it once more. */
  async function plannedAgain(runId: RunId, wanted: WantedWork) {
    const { deps, signal, stores } = stages
    await stores.ledger.dispatch(runId, 1)
    await endRun(stores.ledger, runId, 'failed')
    const origin = { kind: 'api', id: 'q1' } as const
    await stores.ledger.reopen(await stores.ledger.getRun(runId), { wanted, origin, command: newToken() })
    await runDiscoveryStage(runId, deps, signal)
    const run = await stores.ledger.getRun(runId)
    const { operations } = await stores.ledger.listOperations(runId, { limit: 100 })
    const current = operations.filter(({ generation }) => generation === run.generation)
    return {
      run,
      plan: await planOf(run),
      names: current.map(({ bundle, work, node }) => `${bundle} ${work} ${node.qualifiedName}`),
    }
  }

  it('plans once more what a reopening names, what failed with its codes, or all that did not end well', async () => {
    const { run, operations } = await planned(faulty, servers)
    const { ledger } = stages.stores
    const { runId } = run
    const endAll = async () => {
      for (const { operationId: id, dispatch } of (await ledger.dispatch(runId, operations.length)).taken) {
        const answer = await ledger.claim({ runId, operationId: id, dispatch }, newToken())
        if (answer.kind !== 'claimed') throw new Error('it was not claimed')
        const errorCode = answer.attempt.work === 'agent' ? 'AGENT_002' : 'TOOL_004'
        await ledger.settle(answer.attempt, 1, { outcome: anOutcome({ status: 'failed', errorCode }), events: [] })
      }
    }
    await endAll()
    const named = operations.find(({ work }) => work === 'mechanical')?.operationId ?? ''
    const byName = await plannedAgain(runId, { operations: [named] })
    expect(byName.names).toEqual(['lint mechanical shop/stock.py'])
    expect(byName.run).toMatchObject({ phase: 'execution', generation: 2, counts: { failed: 1, ready: 1 } })
    await endAll()
    expect((await plannedAgain(runId, { codes: ['AGENT_002'] })).names).toEqual(['lint agent total'])
    await endAll()
    expect((await plannedAgain(runId, {})).names).toHaveLength(2)
    await endAll()
    expect((await plannedAgain(runId, { codes: ['AGENT_009'] })).run).toMatchObject({
      status: 'failed',
      errorCode: 'INTAKE_007',
      reason: `no operation of run "${runId}" failed with AGENT_009`,
    })
    const gone = operationId('n0000000000000000', 'lint')
    expect((await plannedAgain(runId, { operations: [gone] })).run).toMatchObject({
      status: 'failed',
      errorCode: 'INTAKE_007',
      reason: expect.stringContaining('none of the operations to retry is planned any more'),
    })
    const inPart = await plannedAgain(runId, { operations: [named, gone] })
    expect(inPart.names).toEqual(['lint mechanical shop/stock.py'])
    expect(inPart.plan?.notices).toContain(
      '1 of the 2 operations to retry is not planned any more: the agents or their settings have changed (1)',
    )
    await endAll()
    const decided = await plannedAgain(runId, { operations: [gone], byDecisions: true })
    expect(decided.run).toMatchObject({ status: 'running', phase: 'review', errorCode: null })
    expect((await ledger.verify(runId)).violations).toEqual([])
  })

  it('plans what a run had not planned at its end', async () => {
    const { deps, signal, stores, inDiscovery } = stages
    const runId = await inDiscovery(faulty, servers)
    const { run, names } = await plannedAgain(runId, { unplanned: true })
    expect(names).toEqual(['lint mechanical shop/stock.py', 'lint agent total'])
    expect(run).toMatchObject({ isPlanned: true, generation: 2 })
    expect(await runDiscoveryStage(runId, deps, signal)).toBe('idle')
    expect((await stores.ledger.verify(runId)).violations).toEqual([])
  })
})
