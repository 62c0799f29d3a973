import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { expect, it, onTestFinished } from 'vitest'
import { startLocalRedis } from '#platform/local-redis.ts'
import { silentLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { startRehearsal } from '../../services/rehearsal/rehearsal-server.ts'
import { conductedRun } from '#stages/conduct/conducted-run.fixture.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { aclFile, redisUser } from '#store/ledger/redis-users.ts'
import { askJobId } from '#store/queues/catalog.ts'
import { openProducer } from '#store/queues/producer.ts'
import { testObjects } from '#testing/s3.ts'
import { freePorts } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { parseConfig } from '../../services/conductor/conductor-config.ts'
import { startConductor } from '../../services/conductor/conductor-service.ts'

const password = 'the-password-of-a-test'

/** A Redis whose users have the rights that their services have, and no more. */
async function redisWithUsers() {
  const dir = await mkdtemp(join(tmpdir(), 'remora-conductor-'))
  const [port = 0] = await freePorts(1)
  await writeFile(join(dir, 'users.acl'), `${aclFile(() => password)}user admin on >${password} ~* &* +@all\n`)
  const settings = { port: String(port), aclfile: join(dir, 'users.acl') }
  const redis = await startLocalRedis({ env: process.env, dir: join(dir, 'data'), settings })
  onTestFinished(async () => {
    await redis.stop()
    await rm(dir, { recursive: true, force: true })
  })
  return (user: string) => `redis://${user}:${password}@127.0.0.1:${port}`
}

it('decides about a run and answers for it with the rights of its own user of Redis, and counts its decisions', async () => {
  const urlOf = await redisWithUsers()
  const [{ objects, project, s3, close: closeObjects }, admin] = [await testObjects(), new Redis(urlOf('admin'))]
  const rehearsal = await startRehearsal({ host: '127.0.0.1', port: 0 })
  const producer = openProducer({ redisUrl: urlOf(redisUser('discovery')), log: silentLog })
  const { config: conductor } = parseConfig({
    REMORA_REDIS_URL: urlOf(redisUser('conductor')),
    REMORA_S3_ENDPOINT: s3.endpoint,
    REMORA_S3_BUCKET: s3.bucket,
    AWS_ACCESS_KEY_ID: s3.accessKeyId,
    AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
    REMORA_MODEL_URLS: rehearsal.url,
    REMORA_CONDUCTOR_HEALTH_PORT: '0',
  })
  const ledger = openLedger(admin)
  const runId = await conductedRun({ ledger, objects, project })
  const service = await startConductor(conductor, { log: silentLog, redactor: openRedactor([]) })
  await producer.add('conductor', runId, { run_id: runId, traceparent: null })
  const agenda = await until(() => ledger.readAgenda(runId), {
    holds: (view) => view?.state.bootstrap?.kind === 'plan',
  })
  expect(agenda?.state.items.map(({ item_id: id }) => id)).toEqual(['lint', 'docstring'])

  const [askId, api] = ['a0123456789abcdef', new Redis(urlOf(redisUser('api')))]
  const asked = { askId, text: 'Why?', by: 'me', phase: 'execution', origin: { kind: 'human', id: 'me' } } as const
  await openLedger(api).receiveAsk(runId, asked)
  const ofApi = openProducer({ redisUrl: urlOf(redisUser('api')), log: silentLog })
  await ofApi.add('conductor', askJobId({ runId, askId }), { run_id: runId, ask_id: askId, traceparent: null })
  await until(() => ledger.readAsk(runId, askId), { holds: (ask) => ask?.end?.ask_id === askId })

  const told = async (path: string) => (await fetch(`http://127.0.0.1:${service.healthPort}${path}`)).text()
  expect(await told('/readyz')).toContain('this service has its own user')
  expect(await told('/metrics')).toContain('remora_decisions_total{question="bootstrap",result="plan"} 1')
  expect(await admin.call('ACL', 'LOG')).toEqual([])
  await service.close()
  await Promise.all([producer.close(), ofApi.close(), api.quit(), rehearsal.close(), closeObjects(), admin.quit()])
})
