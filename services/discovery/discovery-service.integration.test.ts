import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { packTar } from 'modern-tar'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { announcedFindable } from '#bundles/findable-nodes.ts'
import { loadBundle } from '#bundles/load-bundle.ts'
import type { Run } from '#domain/run.ts'
import { openLedger } from '#store/ledger/ledger.ts'
import { objectKeys } from '#store/objects/object-keys.ts'
import { putBundle } from '#store/objects/stored-records.ts'
import { openS3ObjectStore } from '#store/objects/s3-object-store.ts'
import { type Log, openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { aNewRun, aRequest } from '#testing/open-test-ledger.ts'
import { recordedLog } from '#testing/recorded-log.ts'
import { readMetric } from '#testing/metric-value.ts'
import { startTestRedis } from '#testing/redis.ts'
import { startTestS3 } from '#testing/s3.ts'
import { until } from '#testing/until.ts'
import type { DiscoveryConfig } from './discovery-config.ts'
import { aSource, hostArchive, openTestHost, saying, token } from '#stages/snapshot/fetch/code-host.fixture.ts'
import { pinnedBundleReader } from '#stages/plan/pin-bundles.ts'
import { startDiscovery } from './discovery-service.ts'

const agentsDir = fileURLToPath(new URL('../../agents', import.meta.url))
const log = openLog({ service: 'discovery', level: 'silent' })
const poet = `name: poet
description: Writes.
node_kinds: [klass]
languages: [python]
initial_context: { system_prompt: a, node_context: b }
tools: [{ builtin: submit_result }]
`
/** Each of them a batch of its own, so that an abort is noticed after one. */
const largeFiles = 40
const lines = 20_000

async function archiveOf(files: number, linesEach: number): Promise<Uint8Array> {
  const entries = Array.from({ length: files }, (_, at) => {
    const body = `def f${at}():\n    return f"${at}"\n${'x = [1, 2, 3]\n'.repeat(linesEach)}`
    return { header: { name: `m${at}.py`, size: Buffer.byteLength(body) }, body }
  })
  return packTar(entries)
}

function configWith(storage: DiscoveryConfig['storage'], agents = agentsDir): DiscoveryConfig {
  return {
    agentsDir: agents,
    bundles: { mapping: {}, settings: {}, maxTurns: undefined, maxTimeoutS: undefined },
    searchPath: process.env['PATH'] ?? '',
    setups: 'off',
    leaveOut: { exclude: [], maxFileBytes: 1_000_000 },
    queries: {},
    threads: 1,
    health: { host: '127.0.0.1', port: 0 },
    lockMs: 10_000,
    isAlone: false,
    awayLimitMs: 86_400_000,
    traces: { endpoint: undefined, headers: {}, share: 0 },
    storage,
    codeHost: { publisher: undefined, proxy: undefined },
    maxUploadBytes: 1_000_000_000,
    blobCacheBytes: 1_000_000,
    told: { most: 1_000, keepMs: 3_600_000 },
    housekeeping: { everyMs: 0, retentionMs: 0, graceMs: 0 },
  }
}

async function openService(over: Partial<DiscoveryConfig> = {}, serviceLog: Log = log) {
  const server = await startTestRedis() // its own: the service's keys are not this example's to share
  const { s3, stop } = await startTestS3()
  const { accessKeyId, secretAccessKey, ...place } = s3
  const events = { maxInlineBytes: 16_384 }
  const storage = { redisUrl: server.url, events, s3: { ...place, credentials: { accessKeyId, secretAccessKey } } }
  const redis = new Redis(server.url)
  const ledger = openLedger(redis)
  const objects = openS3ObjectStore(storage.s3)
  const service = await startDiscovery(
    { ...configWith(storage), ...over },
    { log: serviceLog, redactor: openRedactor() },
  )
  return {
    storage,
    redis,
    ledger,
    objects,
    health: `http://127.0.0.1:${service.healthPort}`,
    async submit(projectId: string, archive: Uint8Array) {
      const run = aNewRun({ projectId })
      await objects.put(objectKeys.upload(projectId, run.runId), archive)
      await ledger.createRun(run)
      return run.runId
    },
    untilIn(runId: string, where: Run['phase'] | Run['status']) {
      return until(() => ledger.getRun(runId), { holds: ({ phase, status }) => phase === where || status === where })
    },
    async close() {
      await service.close()
      objects.close()
      redis.disconnect()
      await stop()
      await server.stop()
    },
  }
}

let service: Awaited<ReturnType<typeof openService>>
beforeEach(async () => {
  service = await openService()
})
afterEach(() => service.close())

it('leaves a large run that is cancelled in its discovery for the next one', async () => {
  const { ledger, objects, submit, untilIn } = service
  const large = await submit('large', await archiveOf(largeFiles, lines))
  await untilIn(large, 'discovery')
  const small = await submit('small', await archiveOf(1, 0))
  await ledger.cancel(large, { reason: 'not wanted', origin: { kind: 'human', id: 'me' } })
  await untilIn(small, 'execution')
  await untilIn(large, 'cancelled')
  const indexed = await Array.fromAsync(objects.list(objectKeys.nodeIndex('large', '')))
  expect(indexed.length).toBeLessThan(largeFiles)
  // Its job may come once more before the run has ended: then there is nothing left to stop.
  await until(() => stages('discoveries', 'stopped'), { holds: (count = 0) => count >= 1 })
  expect(await stages('snapshots', 'ok')).toBe(2)
})

it('counts the snapshot of a broken archive as failed, though its job is done', async () => {
  const broken = await service.submit('broken', Buffer.from('no archive'))
  await service.untilIn(broken, 'failed')
  await until(() => stages('snapshots', 'failed'), { holds: (count) => count === 1 })
  expect(await stages('snapshots', 'ok')).toBeUndefined()
})

it('fetches the code of a run when its host works again, and tells nobody the token', async () => {
  const host = await openTestHost()
  await service.close()
  const { log: recorded, lines: logged } = recordedLog({ level: 'debug' })
  service = await openService({ codeHost: { publisher: host.publisher, proxy: undefined } }, recorded)
  try {
    host.answers.archives = saying(503)
    const run = aNewRun({ request: aRequest({ repository: aSource() }) })
    await service.ledger.createRun(run)
    await until(() => logged, { holds: (entries) => entries.some((line) => line.includes('HOST_001')) })
    delete host.answers.archives
    host.put(host.answers.branch, await hostArchive({ 'a.py': 'def f():\n    return f"x"\n' }))
    await service.untilIn(run.runId, 'execution')
    expect(await service.ledger.getRun(run.runId)).toMatchObject({ commit: host.answers.branch, nodes: 2 })
    expect(host.asked).toHaveLength(2) // the host was not asked every second
    for (const line of logged) expect(line).not.toContain(token)
  } finally {
    await host.close()
  }
})

const stages = (stage: string, result: string) =>
  readMetric(service.health, `remora_stage_seconds_count{stage="${stage}",result="${result}"}`)

it('does not start with a bundle for a node kind that no query pack has; runs pinned to such a bundle keep it', async () => {
  const { storage, redis, objects } = service
  const dir = await mkdtemp(join(tmpdir(), 'remora-agents-'))
  await mkdir(join(dir, 'poet'))
  await writeFile(join(dir, 'poet', 'bundle.yaml'), poet)
  const fault = /bundle\.yaml:3:14 no query pack finds nodes of kind klass; did you mean class\?/
  await expect(startDiscovery(configWith(storage, dir), { log, redactor: openRedactor() })).rejects.toMatchObject({
    code: 'AGENT_001',
    message: expect.stringMatching(fault),
  })
  const announced = await announcedFindable(redis)
  expect(announced?.nodeKinds).toContain('class')
  expect(announced?.languages).toContain('python')
  const { bundle } = await loadBundle(join(dir, 'poet'))
  const hash = await putBundle(objects, 'before', bundle)
  expect(await pinnedBundleReader(objects)('before', [hash])).toEqual([{ hash, bundle }])
  await rm(dir, { recursive: true })
})
