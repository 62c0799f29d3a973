import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openRetention, type Retention } from '#store/ledger/retention.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { until } from '#testing/until.ts'
import { openTestApi, type TestApi } from '../../services/api/app.fixture.ts'
import { serveApp, type ServedApp } from '../../services/api/http/serve-app.ts'
import { composeRun, playRun, submitRun } from '../../services/api/played-run.fixture.ts'
import { readCliConfig } from '../cli-config.ts'
import { buildProgram } from '../program.ts'

let redis: Redis
let retention: Retention
let api: TestApi
let served: ServedApp
beforeAll(async () => {
  const server = await testRedis()
  redis = new Redis(server.url)
  retention = openRetention(redis, server.namespace)
  api = await openTestApi(server, await testObjects())
  served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
})
afterAll(async () => {
  await served.close()
  await redis.quit()
  await api.close()
})

function remora(...args: string[]) {
  const printed = { out: '', err: '' }
  const io = {
    out: (text: string) => void (printed.out += text),
    err: (text: string) => void (printed.err += text),
    exit: () => {},
  }
  const config = readCliConfig({ REMORA_API_URL: served.url, REMORA_TOKEN: api.token })
  const signal = new AbortController().signal
  const program = buildProgram({ io, config, signal, terminal: undefined, colored: false, cwd: '.' })
  return { printed, ended: program.parseAsync(args, { from: 'user' }) }
}

it('says that the run is deleted when nothing of it is left, not before', async () => {
  const runId = await playRun(api, [])
  await composeRun(api, runId, { files: [] })
  const { printed, ended } = remora('delete', runId)
  const [run] = await until(() => retention.runsBeingDeleted(), { holds: ({ length }) => length > 0 })
  expect([run?.runId, printed.out]).toEqual([runId, ''])
  await retention.forgetRun({ runId, projectId: api.project })
  await retention.endDeletion({ runId, projectId: api.project })
  await ended
  expect(printed).toEqual({ out: `${runId}: deleted\n`, err: '' })
})

it('refuses a run that goes on, and one that is not there', async () => {
  const runId = await submitRun(api)
  await expect(remora('delete', runId).ended).rejects.toMatchObject({ code: 'RUN_006' })
  await expect(remora('delete', 'r00000000000000000').ended).rejects.toMatchObject({ code: 'RUN_001' })
})
