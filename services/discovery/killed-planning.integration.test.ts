import { describe, expect, it } from 'vitest'
import { newToken, type RunId } from '#domain/ids.ts'
import type { WantedWork } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { anOutcome, endRun } from '#testing/open-test-ledger.ts'
import { useOpened } from '#testing/use-opened.ts'
import { runDiscoveryStage } from './discovery-stage.ts'
import { openStages } from './open-stages.fixture.ts'

const stages = useOpened(openStages)

const faulty = {
  'shop/stock.py':
    'import os\n\n\ndef label(row):\n    return f"shelf" + row\n\n\ndef total():\n    return undefined\n',
}

/** Fails everything that is ready. */
async function failAll(runId: RunId): Promise<void> {
  const { ledger } = stages.stores
  const { taken } = await ledger.dispatch(runId, 10)
  for (const job of taken) {
    const claimed = await ledger.claim({ runId, ...job }, newToken())
    if (claimed.kind !== 'claimed') throw new Error(claimed.kind)
    const outcome = anOutcome({ status: 'failed', errorCode: 'AGENT_004' })
    await ledger.settle(claimed.attempt, 1, { outcome, events: [] })
  }
}

/** Plans until the plan is stored; the process ends before the run moves on. */
async function planAndDie(runId: RunId): Promise<void> {
  const { deps } = stages
  const end = new AbortController()
  const move: Ledger['move'] = (id, change) => {
    if (change.command !== 'plan') return deps.ledger.move(id, change)
    end.abort()
    throw new Error('the process ends here')
  }
  await runDiscoveryStage(runId, { ...deps, ledger: { ...deps.ledger, move } }, end.signal).catch(() => undefined)
}

describe('a reopened run whose planning was killed after its plan was stored', () => {
  it.each<[WantedWork, 'planned' | 'unplanned']>([
    [{ codes: ['AGENT_004'] }, 'planned'],
    [{}, 'planned'],
    [{ unplanned: true }, 'unplanned'],
  ])('is planned again to the same: %j', async (wanted, before) => {
    const { deps, signal, stores, inDiscovery } = stages
    const runId = await inDiscovery(faulty, { labels: { 'remora.model': 'servers' } })
    if (before === 'planned') {
      await runDiscoveryStage(runId, deps, signal)
      await failAll(runId)
    }
    await endRun(stores.ledger, runId, 'failed')
    const run = await stores.ledger.getRun(runId)
    await stores.ledger.reopen(run, { wanted, origin: { kind: 'api', id: 'q' }, command: newToken() })
    await planAndDie(runId)
    await runDiscoveryStage(runId, deps, signal)
    const ready = { status: 'running', phase: 'execution', generation: 2, stop: null }
    expect(await stores.ledger.getRun(runId)).toMatchObject(ready)
  })
})
