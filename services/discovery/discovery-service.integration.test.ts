import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { packTar } from 'modern-tar'
import { expect, it } from 'vitest'
import type { Run } from '#domain/run.ts'
import { openLedger } from '#ledger/ledger.ts'
import { objectKeys } from '#objects/object-keys.ts'
import { openS3ObjectStore } from '#objects/s3-object-store.ts'
import { openLog } from '#platform/log.ts'
import { aNewRun } from '#testing/factories.ts'
import { startTestRedis } from '#testing/redis.ts'
import { startTestS3 } from '#testing/s3.ts'
import { until } from '#testing/until.ts'
import { startDiscovery } from './discovery-service.ts'

const log = openLog({ service: 'discovery', level: 'silent' })
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

it('leaves a large run that is cancelled in its discovery for the next one', async () => {
  const server = await startTestRedis() // its own: the service's keys are not this example's to share
  const { s3, stop } = await startTestS3()
  const { accessKeyId, secretAccessKey, ...place } = s3
  const storage = { redisUrl: server.url, s3: { ...place, credentials: { accessKeyId, secretAccessKey } } }
  const redis = new Redis(server.url)
  const ledger = openLedger(redis)
  const objects = openS3ObjectStore(storage.s3)
  const service = await startDiscovery(
    {
      agentsDir: fileURLToPath(new URL('../../agents', import.meta.url)),
      bundles: { mapping: {}, settings: {}, maxTurns: undefined, maxTimeoutS: undefined },
      leaveOut: { exclude: [], maxFileBytes: 1_000_000 },
      queriesDir: undefined,
      threads: 1,
      healthPort: 0,
      lockMs: 10_000,
      isAlone: false,
      storage,
      blobCacheBytes: 1_000_000,
      housekeeping: { everyMs: 0, retentionMs: 0, graceMs: 0 },
    },
    { log },
  )
  const submit = async (projectId: string, files: number, linesEach: number) => {
    const run = aNewRun({ projectId })
    await objects.put(objectKeys.upload(projectId, run.runId), await archiveOf(files, linesEach))
    await ledger.createRun(run)
    return run.runId
  }
  const isIn = async (runId: string, where: Run['phase'] | Run['status']) => {
    const { phase, status } = await ledger.getRun(runId)
    return phase === where || status === where
  }

  const large = await submit('large', largeFiles, lines)
  await until(() => isIn(large, 'discovery'))
  const small = await submit('small', 1, 0)
  await ledger.cancel(large, { reason: 'not wanted', origin: { kind: 'human', id: 'me' } })
  await until(() => isIn(small, 'execution'))
  await until(() => isIn(large, 'cancelled'))
  const indexed = await Array.fromAsync(objects.list(objectKeys.nodeIndex('large', '')))
  expect(indexed.length).toBeLessThan(largeFiles)

  await service.close()
  objects.close()
  redis.disconnect()
  await stop()
  await server.stop()
})
