import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { type LocalRedis, startLocalRedis } from '#platform/local-redis.ts'
import { until } from '#testing/until.ts'
import { openPrograms } from '../program.ts'
import { type Services, startServices, startStores, type Stores } from '../services.ts'

const programs = openPrograms()
const Line = z.object({ level: z.string(), message: z.string() })
const Problem = z.object({ error_code: z.string() })
const names = ['api', 'discovery', 'worker-1']

let dir: string
let redis: LocalRedis
let stores: Stores
let services: Services
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-test-'))
  redis = await startLocalRedis({ env: process.env, dir })
  stores = await startStores()
  services = await startServices(programs, { ...stores, redisUrl: redis.url })
})
afterAll(async () => {
  await programs.end()
  await stores.stop()
  await redis.stop()
  await rm(dir, { recursive: true, force: true })
})

/** Lines of a service that ask for somebody's attention. */
function complaints(name: string): z.infer<typeof Line>[] {
  const lines = services
    .named(name)
    .err()
    .split('\n')
    .filter((line) => line.endsWith('}'))
  return lines.map((line) => Line.parse(JSON.parse(line))).filter(({ level }) => level === 'warn' || level === 'error')
}

it('a Redis that keeps its connections and answers nothing is away for the API and in every log', async () => {
  const before = new Map(names.map((name) => [name, complaints(name).length]))
  const since = (name: string) => complaints(name).slice(before.get(name))
  process.kill(redis.pid, 'SIGSTOP')
  try {
    const answers = await Promise.all([1, 2, 3].map(() => services.api.ask('/v1/runs')))
    for (const answer of answers) {
      expect(answer.status).toBe(503)
      expect(Problem.parse(await answer.json()).error_code).toBe('STORE_001')
    }
    for (const name of names) await until(() => since(name), { holds: ({ length }) => length > 0, withinMs: 60_000 })
    for (const name of names)
      expect([name, since(name)]).toEqual([name, [{ level: 'warn', message: expect.anything() }]])
  } finally {
    process.kill(redis.pid, 'SIGCONT')
  }
  await until(() => services.api.ask('/v1/runs'), { holds: ({ status }) => status === 200, withinMs: 60_000 })
}, 180_000)
