import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { indexKeys } from '#store/ledger/keys.ts'
import { until } from '#testing/until.ts'
import { startStack, type Stack, type StackOptions } from './start-stack.ts'

/** What Node reports of a process when it is created; its arguments are known a moment later. */
const Made = z.object({ process: z.custom<{ spawnargs?: readonly string[] }>((value) => typeof value === 'object') })

let dir = ''
const reported: string[] = []
const made: z.infer<typeof Made>['process'][] = []
const note = (message: unknown) => void made.push(Made.parse(message).process)
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-stack-'))
  made.length = 0
  reported.length = 0
  subscribe('child_process', note)
})
afterEach(async () => {
  unsubscribe('child_process', note)
  await rm(dir, { recursive: true, force: true, maxRetries: 5 })
})

const startedWorkers = () => made.filter(({ spawnargs = [] }) => spawnargs.some((one) => one.includes('/worker/')))

function options(workers: number): StackOptions {
  return {
    dataDir: dir,
    redisProgram: async () => 'redis-server',
    workers,
    port: 0,
    model: { urls: undefined, name: undefined, apiKey: undefined },
    token: undefined,
    logging: { level: 'info' },
    logPath: join(dir, 'stack.log'),
    say: (line) => void reported.push(line),
    signal: new AbortController().signal,
  }
}

function workerOf(stack: Stack): number | undefined {
  return stack.processes().find(({ service }) => service === 'worker')?.pid
}

/** Another command that finds the stack in its data folder; returns its stdout. */
async function remora(...args: readonly string[]): Promise<string> {
  const entry = fileURLToPath(new URL('../remora.mjs', import.meta.url))
  const env = { PATH: process.env['PATH'], REMORA_DATA_DIR: dir }
  const { stdout } = await promisify(execFile)(process.execPath, [entry, ...args], { cwd: dir, env })
  return stdout
}

describe('a stack', () => {
  it('starts its workers when discovery has taken over what was left, and stops all', async () => {
    const stack = await startStack(options(2))
    expect(startedWorkers()).toHaveLength(2)
    await stack.stop()
    expect(stack.processes().filter(({ service }) => service === 'worker')).toEqual([])
  })

  it('starts no worker that claims what discovery, which cannot start, did not take over', async () => {
    const stores = await startStack(options(0))
    const redis = new Redis(stores.redisUrl)
    await redis.set(indexKeys('remora').active, 'no set')
    await redis.quit()
    await stores.stop()
    await expect(startStack(options(1))).rejects.toThrow('WRONGTYPE')
    expect(startedWorkers()).toEqual([])
  })

  it.each([
    ['redis', 'STORE_001'],
    ['s3', 'STORE_002'],
  ])('fails with what is wrong when its %s dies', async (name, code) => {
    const stack = await startStack(options(0))
    process.kill(stack.processes().find(({ service }) => service === name)?.pid ?? 0, 'SIGKILL')
    await until(() => stack.failed.aborted)
    expect(stack.failed.reason).toMatchObject({ code, message: expect.stringContaining('the embedded') })
    await stack.stop()
  })

  it('goes on when its workers die again and again: it answers, and a run ends', async () => {
    const restartPauses = { firstMs: 5, mostMs: 20, steadyMs: 60_000 }
    const stack = await startStack({ ...options(1), restartPauses })
    // Workers that never came up end the stack.
    await stack.begun
    for (let killed = 0; killed < 4; killed++) {
      process.kill(await until(() => workerOf(stack)), 'SIGKILL')
      await until(() => reported, { holds: ({ length }) => length === killed + 1 })
    }
    expect(reported[3]).toMatch(/^worker process \d+ ended with SIGKILL; another starts in 0\.02 s$/)
    expect((await fetch(`${stack.url}/readyz`)).status).toBe(200)
    await mkdir(join(dir, 'src'))
    await writeFile(join(dir, 'src', 'a.py'), 'def price():\n    return f"price"\n')
    const run = (await remora('submit', 'src', '--agents', 'lint')).trim()
    expect(await remora('watch', run)).toContain(`Its patch: remora diff ${run}`)
    expect(stack.failed.aborted).toBe(false)
    await stack.stop()
  })
})
