import { afterAll, beforeAll, expect, it } from 'vitest'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { openTestApi, type TestApi } from '../../services/api/app.fixture.ts'
import { serveApp, type ServedApp } from '../../services/api/http/serve-app.ts'
import { plannedOperation, playRun } from '../../services/api/played-run.fixture.ts'
import { readCliConfig } from '../config.ts'
import { buildProgram } from '../program.ts'

let api: TestApi
let served: ServedApp
let runId = ''
beforeAll(async () => {
  api = await openTestApi(await testRedis(), await testObjects())
  served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
  runId = await playRun(api, [
    { name: 'one', changes: [{ kind: 'create', path: 'one.py', content: 'x = 1\n' }] },
    { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit of 12' } },
  ])
})
afterAll(async () => {
  await served.close()
  await api.close()
})

async function diff(...args: string[]): Promise<string> {
  let said = ''
  const io = { out: (text: string) => void (said += text), err: () => {}, exit: () => {} }
  const config = readCliConfig({ REMORA_API_URL: served.url, REMORA_TOKEN: api.token })
  const context = { io, config, signal: new AbortController().signal, terminal: undefined, colored: false, cwd: '.' }
  await buildProgram(context).parseAsync(['diff', runId, ...args], { from: 'user' })
  return said
}

const idOf = (name: string) => plannedOperation(name).operationId

it('prints what an operation changed', async () => {
  expect(await diff(idOf('one'))).toContain('+x = 1\n')
})

it('says of an operation that failed why it has no change', async () => {
  const message = `operation ${idOf('two')} of run ${runId} is failed: AGENT_004 turn limit of 12`
  await expect(diff(idOf('two'))).rejects.toMatchObject({ code: 'RUN_004', message })
})

it('says of an operation the run does not have that it is not there', async () => {
  await expect(diff('o0123456789abcdef')).rejects.toMatchObject({
    code: 'RUN_004',
    message: expect.stringContaining('o0123456789abcdef'),
  })
})

it('says that the patch of a run that goes on is still to come', async () => {
  const message = `The patch of run ${runId} is still to come: it is running.`
  await expect(diff()).rejects.toMatchObject({ code: 'RUN_006', message })
})
