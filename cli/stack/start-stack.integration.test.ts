import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { indexKeys } from '#store/ledger/keys.ts'
import { startStack, type StackOptions } from './start-stack.ts'

/** What Node reports of a process when it is created; its arguments are known a moment later. */
const Made = z.object({ process: z.custom<{ spawnargs?: readonly string[] }>((value) => typeof value === 'object') })

let dir = ''
const made: z.infer<typeof Made>['process'][] = []
const note = (message: unknown) => void made.push(Made.parse(message).process)
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-stack-'))
  made.length = 0
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
    say: () => {},
    signal: new AbortController().signal,
  }
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
})
