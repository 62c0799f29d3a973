import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { startLocalRedis } from './local-redis.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-local-redis-'))
})
afterEach(async () => {
  await rm(dir, { recursive: true, force: true })
})

describe('startLocalRedis', () => {
  it('answers on its own port, keeps data over a restart in the same folder, and is gone after stop', async () => {
    const first = await startLocalRedis({ dir })
    const client = new Redis(first.url)
    expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction'])
    await client.set('kept', 'yes')
    await client.quit()
    await first.stop()
    await first.stop()
    expect(() => process.kill(first.pid, 0)).toThrow('ESRCH')

    const second = await startLocalRedis({ dir })
    const again = new Redis(second.url)
    expect(await again.get('kept')).toBe('yes')
    await again.quit()
    await second.stop()
  })

  it("says why it did not start, in Redis' own words", async () => {
    await writeFile(join(dir, 'appendonlydir'), 'a file where Redis wants a folder')
    const failure = startLocalRedis({ dir })
    await expect(failure).rejects.toThrow(AppError)
    await expect(failure).rejects.toThrow(/did not start: .*append/i)
  })

  it('ends the program when the start is aborted', async () => {
    await expect(startLocalRedis({ dir, signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })
})
