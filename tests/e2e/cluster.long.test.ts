import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startRedisCluster, type TestRedisCluster } from '#testing/redis-cluster.ts'
import { startTestS3 } from '#testing/s3.ts'
import { openPrograms } from '../program.ts'
import { type Services, startServices, storeEnv, type Stores } from '../services.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'

describe('the services on a cluster of Redis', () => {
  const programs = openPrograms()
  const open: { cluster?: TestRedisCluster; s3?: Stores; folder?: SourceFolder } = {}
  let stores: Stores
  let folder: SourceFolder
  let services: Services

  beforeAll(async () => {
    const cluster = (open.cluster = await startRedisCluster())
    const s3 = await startTestS3()
    stores = open.s3 = { redisUrl: cluster.url, s3: s3.s3, stop: s3.stop }
    folder = open.folder = await sourceFolder(smallSource)
    services = await startServices(programs, stores)
  })
  afterAll(async () => {
    await programs.end()
    await open.s3?.stop()
    await open.cluster?.stop()
    await open.folder?.remove()
  })

  it('take a run to its end, with nothing wrong in the ledger and nothing about slots in a log', async () => {
    const id = await services.api.submit(await folder.pack(), { agents: ['lint', 'docstring'] })
    const run = await services.api.follow(id)
    expect(run.status).toBe('completed')
    expect(run.events.filter(({ event }) => event === 'operation.ended')).toHaveLength(3)

    const verify = programs.start(['cli/remora.mjs', 'verify', id, '--json'], { env: storeEnv(stores) })
    expect(await verify.exited, verify.err() + verify.out()).toBe(0)
    expect(JSON.parse(verify.out())).toMatchObject({ run_id: id, ok: true, violations: [] })
    for (const { name, err } of services.all) expect(err(), name).not.toMatch(/CROSSSLOT|MOVED|non local key/)
  })
})
