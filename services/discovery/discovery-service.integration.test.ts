import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Redis } from 'ioredis'
import { packTar } from 'modern-tar'
import { afterEach, beforeEach, expect, it } from 'vitest'
import type { CodeNode } from '#domain/code-node.ts'
import type { Run } from '#domain/run.ts'
import { openLedger } from '#ledger/ledger.ts'
import { objectKeys } from '#objects/object-keys.ts'
import { openNodeLists } from '#objects/read-node-list.ts'
import { openS3ObjectStore } from '#objects/s3-object-store.ts'
import { openLog } from '#platform/log.ts'
import { aNewRun } from '#testing/factories.ts'
import { startTestRedis } from '#testing/redis.ts'
import { startTestS3 } from '#testing/s3.ts'
import { until } from '#testing/until.ts'
import { discoverFolder } from './discover/discover-folder.ts'
import { startDiscovery } from './discovery-service.ts'

const agentsDir = fileURLToPath(new URL('../../agents', import.meta.url))
const exampleDir = fileURLToPath(new URL('../../examples/inventory', import.meta.url))
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

async function openService() {
  const server = await startTestRedis() // its own: the service's keys are not this example's to share
  const { s3, stop } = await startTestS3()
  const { accessKeyId, secretAccessKey, ...place } = s3
  const storage = { redisUrl: server.url, s3: { ...place, credentials: { accessKeyId, secretAccessKey } } }
  const redis = new Redis(server.url)
  const ledger = openLedger(redis)
  const objects = openS3ObjectStore(storage.s3)
  const service = await startDiscovery(
    {
      agentsDir,
      bundles: { mapping: {}, settings: {}, maxTurns: undefined, maxTimeoutS: undefined },
      leaveOut: { exclude: [], maxFileBytes: 1_000_000 },
      queries: {},
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
  return {
    ledger,
    objects,
    async submit(projectId: string, archive: Uint8Array) {
      const run = aNewRun({ projectId })
      await objects.put(objectKeys.upload(projectId, run.runId), archive)
      await ledger.createRun(run)
      return run.runId
    },
    async isIn(runId: string, where: Run['phase'] | Run['status']) {
      const { phase, status } = await ledger.getRun(runId)
      return phase === where || status === where
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
  const { ledger, objects, submit, isIn } = service
  const large = await submit('large', await archiveOf(largeFiles, lines))
  await until(() => isIn(large, 'discovery'))
  const small = await submit('small', await archiveOf(1, 0))
  await ledger.cancel(large, { reason: 'not wanted', origin: { kind: 'human', id: 'me' } })
  await until(() => isIn(small, 'execution'))
  await until(() => isIn(large, 'cancelled'))
  const indexed = await Array.fromAsync(objects.list(objectKeys.nodeIndex('large', '')))
  expect(indexed.length).toBeLessThan(largeFiles)
})

it('keeps the nodes of a run, those a folder of the same files has', async () => {
  const entries = await Promise.all(
    (await readdir(exampleDir, { recursive: true, withFileTypes: true })).flatMap((entry) =>
      entry.isFile() ? [entryOf(join(entry.parentPath, entry.name))] : [],
    ),
  )
  const runId = await service.submit('example', await packTar(entries.toSorted(byName)))
  await until(async () => (await service.ledger.getRun(runId)).nodeListKey !== null)
  const { nodes, nodeListKey } = await service.ledger.getRun(runId)
  const ref = { projectId: 'example', runId, hash: nodeListKey ?? '' }
  const lists = openNodeLists(service.objects)
  const found: CodeNode[] = []
  for (let from: number | null = 0; from !== null;) {
    const page = await lists.scan(ref, { from, limit: 7 })
    found.push(...page.nodes)
    from = page.next
  }
  const folder = await discoverFolder(exampleDir, { threads: 1 }, AbortSignal.timeout(30_000))
  expect(found).toEqual(folder.nodes)
  expect(nodes).toBe(folder.nodes.length)
  expect(nodes).toBeGreaterThan(50)
})

async function entryOf(path: string) {
  const body = await readFile(path)
  return { header: { name: relative(exampleDir, path), size: body.length }, body }
}

function byName(one: { header: { name: string } }, other: { header: { name: string } }): number {
  return one.header.name < other.header.name ? -1 : 1
}
