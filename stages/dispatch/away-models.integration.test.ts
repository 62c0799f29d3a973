import { beforeAll, describe, expect, it } from 'vitest'
import type { RunId } from '#domain/ids.ts'
import type { Fleet } from '#store/ledger/fleet.ts'
import { silentLog } from '#platform/log.ts'
import { aPlannedOperation, testLedger } from '#testing/open-test-ledger.ts'
import type { PinnedBundle } from '#stages/plan/pin-bundles.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openAwayModels } from './away-models.ts'
import { loadBundle } from '#bundles/load-bundle.ts'
import { fileURLToPath } from 'node:url'

let lint: PinnedBundle
const hash = 'b'.repeat(64)

const test = useOpened(testLedger)
beforeAll(async () => {
  const loaded = await loadBundle(fileURLToPath(new URL('../../agents/lint', import.meta.url)))
  lint = { hash, bundle: loaded.bundle }
})

const since = Date.now() - 60_000
const nobody: Fleet = {
  operations: 0,
  workers: 0,
  capacity: undefined,
  stuck: 0,
  away: [],
  working: new Set(),
  served: new Set(),
}
const away: Fleet = { ...nobody, operations: 4, away: [{ model: 'default', since, servers: [] }] }
const working: Fleet = { ...nobody, operations: 4, working: new Set(['default']) }

function attending(awayLimitMs = 86_400_000) {
  const wanted: string[] = []
  const readBundles = async () => [lint]
  const wantModels = async (models: readonly string[]) => void wanted.push(...models)
  const models = openAwayModels({ ledger: test.ledger, readBundles, wantModels, awayLimitMs, log: silentLog })
  const note = async (runId: RunId, fleet: Fleet) => {
    const run = await test.ledger.getRun(runId)
    await models.note({ ...run, bundleHashes: [hash] }, fleet)
    return test.ledger.getRun(runId)
  }
  return { note, wanted }
}

describe('a run whose bundles need a model', () => {
  it('waits for it from when all workers say that it is away until one says that it works', async () => {
    const runId = await test.executing([aPlannedOperation('a')])
    const { note, wanted } = attending()
    expect(await note(runId, working)).toMatchObject({ away: [] })
    expect((await note(runId, away)).away).toEqual([{ model: 'default', since, bundles: ['lint'] }])
    expect(wanted).toEqual(['default'])
    await test.ledger.dispatch(runId, 10)
    expect(await note(runId, nobody)).toMatchObject({ status: 'waiting', away: [{ model: 'default' }] })
    expect(await note(runId, working)).toMatchObject({ status: 'running', away: [] })
  })

  it('waits for none while all of its operations are done without one', async () => {
    const { bundle } = aPlannedOperation('a')
    const runId = await test.executing([{ ...aPlannedOperation('a'), work: 'mechanical' }])
    const { note } = attending()
    expect(await note(runId, away)).toMatchObject({ away: [], agentBundles: [] })
    const asking = await test.executing([{ ...aPlannedOperation('a'), work: 'mechanical' }, aPlannedOperation('b')])
    expect(await note(asking, away)).toMatchObject({ away: [{ model: 'default' }], agentBundles: [bundle] })
  })

  it('ends what has waited longer than the limit as blocked', async () => {
    const runId = await test.executing([aPlannedOperation('a')])
    await attending().note(runId, away)
    await test.ledger.dispatch(runId, 10)
    expect(await attending(-1).note(runId, away)).toMatchObject({ phase: 'review', counts: { blocked: 1 } })
    expect((await test.ledger.verify(runId)).violations).toEqual([])
  })
})
