import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { freePorts } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { openPrograms } from './program.ts'
import { isReady } from './services.ts'

const programs = openPrograms()
let folder = ''
afterAll(async () => {
  await programs.end()
  await rm(folder, { recursive: true, force: true })
})

it('the stores of this machine serve a service that reads their file, and end when they are asked to', async () => {
  folder = await mkdtemp(join(tmpdir(), 'remora-stores-'))
  const home = process.env['HOME'] ?? folder // where a Redis that was built or downloaded is kept
  const stores = programs.start(['scripts/service.mjs', 'stores', join(folder, 'stores')], { env: { HOME: home } })
  await until(() => stores.out().includes('"env"'), { withinMs: 60_000 })
  const lines = (await readFile(join(folder, 'stores', 'env'), 'utf8')).trim().split('\n')
  const values = Object.fromEntries(lines.map((line) => line.split(/=(.*)/).slice(0, 2)))
  const [port] = await freePorts(1)
  const env = { ...values, REMORA_TOKEN: 'a-token-only-for-the-tests', REMORA_API_PORT: String(port) }
  const api = programs.start(['scripts/service.mjs', 'api'], { env })
  const origin = `http://127.0.0.1:${port}`
  await isReady({ ...api, name: 'api', origin })

  stores.interrupt()
  expect(await stores.exited).toBe(0)
  const answer = await until(async () => {
    const one = await fetch(`${origin}/readyz`)
    return one.status === 503 && one
  })
  const redis = { state: 'away', message: 'it cannot be reached' }
  expect(await answer.json()).toMatchObject({ parts: { redis, models: { state: 'unknown' } } })
})
