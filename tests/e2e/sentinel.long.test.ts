import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startSentinel, type TestSentinel } from '#testing/redis-sentinel.ts'
import { startTestS3 } from '#testing/s3.ts'
import { lacks } from '#testing/this-machine.ts'
import { openPrograms } from '../program.ts'
import { type Services, startServices, storeEnv, type Stores } from '../services.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'

describe.skipIf(lacks('redis-server'))('the services with sentinels', () => {
  const programs = openPrograms()
  const open: { sentinel?: TestSentinel; stores?: Stores; folder?: SourceFolder } = {}
  let sentinel: TestSentinel
  let stores: Stores
  let folder: SourceFolder
  let services: Services

  beforeAll(async () => {
    sentinel = open.sentinel = await startSentinel()
    const s3 = await startTestS3()
    stores = open.stores = { redisUrl: sentinel.url, s3: s3.s3, stop: s3.stop }
    folder = open.folder = await sourceFolder(smallSource)
    services = await startServices(programs, stores, { env: { REMORA_REHEARSAL_LATENCY_MS: '1500' } })
  })
  afterAll(async () => {
    await programs.end()
    await open.stores?.stop()
    await open.sentinel?.stop()
    await open.folder?.remove()
  })

  async function violationsOf(run: string): Promise<unknown> {
    const verify = programs.start(['cli/remora.mjs', 'verify', run, '--json'], { env: storeEnv(stores) })
    await verify.exited
    return JSON.parse(verify.out())
  }

  it('take a run to its end over the death of the master, and one more with the new master', async () => {
    const archive = await folder.pack()
    const run = await services.api.submit(archive, { agents: ['lint', 'docstring'] })
    for (let after = 0, isUnderWay = false; !isUnderWay;) {
      const page = await services.api.events(run, after)
      isUnderWay = page.events.some(({ event }) => event === 'model.requested')
      after = page.next_after
    }
    await sentinel.failOver()
    expect((await services.api.follow(run)).status).toBe('completed')
    const next = await services.api.submit(archive, { agents: ['lint'] })
    expect((await services.api.follow(next)).status).toBe('completed')
    for (const id of [run, next]) expect(await violationsOf(id)).toMatchObject({ ok: true, violations: [] })
  })
})
