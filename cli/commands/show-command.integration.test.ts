import { afterAll, beforeAll, expect, it } from 'vitest'
import type { TestApi } from '../../services/api/app.fixture.ts'
import { storeNodes, submitRun } from '../../services/api/played-run.fixture.ts'
import { readCliConfig } from '../cli-config.ts'
import { buildProgram } from '../program.ts'
import { openServedApi, type ServedApi } from './served-api.fixture.ts'

let api: TestApi
let served: ServedApi
beforeAll(async () => {
  served = await openServedApi()
  api = served.api
})
afterAll(() => served.close())

async function show(runId: string): Promise<string> {
  let stdout = ''
  const io = { out: (text: string) => void (stdout += text), err: () => {}, exit: () => {} }
  const config = readCliConfig({ REMORA_API_URL: served.url, REMORA_TOKEN: api.token })
  const context = { io, config, signal: new AbortController().signal, terminal: undefined, colored: false, cwd: '.' }
  await buildProgram(context).parseAsync(['show', runId], { from: 'user' })
  return stdout
}

it('says of a run without operations why it has none, once it is planned', async () => {
  const runId = await submitRun(api)
  expect(await show(runId)).not.toContain('ooked at')
  const skipped = [
    { reason: 'has a docstring', count: 7, examples: [] },
    { reason: 'is in a test', count: 2, examples: [] },
  ]
  const counts = { planned: 0, mechanical: 0, estimatedTokens: 0, folders: [] }
  const agents = { docstring: { lookedAt: 9, ...counts, skipped } }
  await storeNodes(api, runId, [], { agents, notices: ['setup.cfg is not read'], nodesLookedAt: 9, beyondLimit: 0 })
  expect(await show(runId)).toContain(`
Looked at 9 nodes: 0 operations
  docstring looked at 9 nodes: 0 operations; none on 7 (has a docstring), 2 (is in a test)
  setup.cfg is not read
`)
})
