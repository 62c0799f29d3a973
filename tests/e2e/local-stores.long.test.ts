import { Redis } from 'ioredis'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it } from 'vitest'
import { freePorts } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { openPrograms } from '../program.ts'
import { isReady } from '../services.ts'
import { testSigningKey } from '#testing/test-signer.ts'

const programs = openPrograms()
let folder = ''
afterEach(async () => {
  await programs.end()
  await rm(folder, { recursive: true, force: true })
})

async function startStores() {
  folder = await mkdtemp(join(tmpdir(), 'remora-stores-'))
  const home = process.env['HOME'] ?? folder // where a Redis that was built or downloaded is kept
  const stores = programs.start(['scripts/service.mjs', 'local-stores', join(folder, 'stores')], {
    env: { HOME: home },
  })
  await until(() => stores.out(), { holds: (text) => text.includes('"env"'), withinMs: 60_000 })
  const lines = (await readFile(join(folder, 'stores', 'env'), 'utf8')).trim().split('\n')
  return { stores, values: Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2))) }
}

it('the stores of this machine serve a service that reads their file, and end when they are asked to', async () => {
  const { stores, values } = await startStores()
  const [port] = await freePorts(1)
  const env = {
    ...values,
    REMORA_TOKEN: 'a-token-only-for-the-tests',
    REMORA_SIGNING_KEY: testSigningKey,
    REMORA_API_PORT: String(port),
    REMORA_API_HEALTH_PORT: '0',
  }
  const api = programs.start(['scripts/service.mjs', 'api'], { env })
  const origin = `http://127.0.0.1:${port}`
  await isReady({ ...api, name: 'api', origin })

  stores.interrupt()
  expect(await stores.exited).toBe(0)
  const answer = await until(() => fetch(`${origin}/readyz`), { holds: ({ status }) => status === 503 })
  const redis = { state: 'away', message: 'it cannot be reached' }
  expect(await answer.json()).toMatchObject({ parts: { redis, models: { state: 'unknown' } } })
})

it('end with a line when their Redis ends, since clients would wait for it for ever', async () => {
  const { stores, values } = await startStores()
  const client = new Redis(values['REMORA_REDIS_URL'] ?? '', { retryStrategy: () => null })
  await client.shutdown('NOSAVE').catch(() => {}) // it answers by closing the connection
  client.disconnect()
  expect(await stores.exited).toBe(1)
  expect(stores.err()).toMatch(/^STORE_001 the embedded Redis ended: /m)
})

it('are refused in a folder that others use, or that cannot be made', async () => {
  const { stores, values } = await startStores()
  const inFolder = async (path: string) => {
    const second = programs.start(['scripts/service.mjs', 'local-stores', path], { env: {} })
    return { code: await second.exited, err: second.err() }
  }
  const used = await inFolder(join(folder, 'stores'))
  expect(used).toEqual({
    code: 1,
    err: expect.stringMatching(/^CONFIG_006 Process \d+ already runs the stores in .*\n$/),
  })
  const kept = await readFile(join(folder, 'stores', 'env'), 'utf8')
  expect(kept).toContain(values['REMORA_REDIS_URL'])
  const noFolder = { code: 1, err: expect.stringMatching(/^CONFIG_003 the folder .* cannot be used: .*\n$/) }
  expect(await inFolder(join(folder, 'stores', 'env'))).toEqual(noFolder)
  expect(await inFolder('/proc/stores')).toEqual(noFolder)
  stores.interrupt()
  expect(await stores.exited).toBe(0)
})
