import { expect, it } from 'vitest'
import type { AgendaState, ItemState } from '#domain/agenda.ts'
import { anItem, decided, openConducted, playPlan, playStep } from '../../services/api/played-agenda.fixture.ts'
import { composeRun, storeNodes, submitRun } from '../../services/api/played-run.fixture.ts'
import { useServedApi } from './served-api.fixture.ts'

const served = useServedApi()
const show = async (runId: string) => (await served.remora('show', runId)).out

it('says of a run without operations why it has none, once it is planned', async () => {
  const runId = await submitRun(served.api)
  expect(await show(runId)).not.toContain('ooked at')
  const skipped = [
    { reason: 'has a docstring', count: 7, examples: [] },
    { reason: 'is in a test', count: 2, examples: [] },
  ]
  const counts = { planned: 0, mechanical: 0, estimatedTokens: 0, folders: [] }
  const agents = { docstring: { lookedAt: 9, ...counts, skipped } }
  await storeNodes(served.api, runId, [], {
    agents,
    notices: ['setup.cfg is not read'],
    nodesLookedAt: 9,
    beyondLimit: 0,
  })
  expect(await show(runId)).toContain(`
Looked at 9 nodes: 0 operations
  docstring looked at 9 nodes: 0 operations; none on 7 (has a docstring), 2 (is in a test)
  setup.cfg is not read
`)
})

const withStatus =
  (status: ItemState['status']) =>
  (item: ItemState): ItemState => ({ ...item, status })

it('names an item that was blocked where the run is shown, and ends partly done', async () => {
  const { api } = served
  const runId = await openConducted(api)
  await playPlan(api, runId, [anItem({ item_id: 'lint' })])
  const begin = (state: AgendaState) => ({ ...state, items: state.items.map(withStatus('planning')) })
  await playStep(api, runId, begin, { dispatch: ['lint'] })
  const { conductor } = await api.ledger.getRun(runId)
  const version = conductor?.kind === 'open' ? conductor.version : 0
  const fault = { error_code: 'TOOL_004', reason: 'Ruff does not tell its settings: it took too long' }
  const events = [decided('item.blocked', { item_id: 'lint', ...fault })]
  await api.ledger.noteItem(runId, { itemId: 'lint', version, fault, events })
  const close = { kind: 'done' as const }
  await playStep(api, runId, (state) => ({ ...state, items: state.items.map(withStatus('blocked')) }), { close })
  await composeRun(api, runId, { files: [] })
  const line = `
1 item of the plan blocked:
  lint: TOOL_004 ${fault.reason}
`
  const { out } = await served.remora('show', runId)
  expect(out).toContain(line)
  expect(out).toContain('\ntokens      1,234, of them 1,234 by planner, watcher and asks\n')
  const watched = await served.remoraWith({ columns: 200 }, 'watch', runId)
  expect([watched.code, watched.out]).toEqual([3, expect.stringContaining(line)])
})
