import { expect, it } from 'vitest'
import { storeNodes, submitRun } from '../../services/api/played-run.fixture.ts'
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
