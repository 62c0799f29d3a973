import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { until } from '#testing/until.ts'
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
    const first = await startLocalRedis({ env: process.env, dir })
    const client = new Redis(first.url)
    expect(await client.config('GET', 'maxmemory-policy')).toEqual(['maxmemory-policy', 'noeviction'])
    await client.set('kept', 'yes')
    await client.quit()
    await first.stop()
    await first.stop()
    expect(() => process.kill(first.pid, 0)).toThrow('ESRCH')

    const second = await startLocalRedis({ env: process.env, dir })
    const again = new Redis(second.url)
    expect(await again.get('kept')).toBe('yes')
    await again.quit()
    await second.stop()
  })

  it('serves nobody without its password, which no other user sees', async () => {
    const server = await startLocalRedis({ env: process.env, dir, password: 'only-for-me' })
    const [knowing, unknowing] = [new Redis(server.url), new Redis(server.url.replace(/\/\/.*@/, '//'))]
    for (const client of [knowing, unknowing]) client.on('error', () => {}) // what it is told is looked at below
    expect(await knowing.set('key', 'value')).toBe('OK')
    await expect(unknowing.get('key')).rejects.toThrow('NOAUTH')
    expect(await readFile(`/proc/${server.pid}/cmdline`, 'utf8')).not.toContain('only-for-me')
    expect(await readFile(`/proc/${server.pid}/environ`, 'utf8')).not.toContain('only-for-me')
    for (const client of [knowing, unknowing]) client.disconnect()
    await server.stop()
  })

  it('says that its port is taken, whatever answers there', async () => {
    const first = await startLocalRedis({ env: process.env, dir })
    const second = startLocalRedis({
      env: process.env,
      dir: join(dir, 'second'),
      port: Number(new URL(first.url).port),
    })
    await expect(second).rejects.toMatchObject({ code: 'CONFIG_006' })
    await first.stop()
  })

  it("says why it did not start, in Redis' own words", async () => {
    await writeFile(join(dir, 'appendonlydir'), 'a file where Redis wants a folder')
    const failure = startLocalRedis({ env: process.env, dir })
    await expect(failure).rejects.toThrow(AppError)
    await expect(failure).rejects.toThrow(/did not start: .*append/i)
  })

  it('ends the program when the start is aborted', async () => {
    await expect(startLocalRedis({ env: process.env, dir, signal: AbortSignal.abort() })).rejects.toThrow('aborted')
  })

  it.each([
    ['before Redis has looked at its folder', 'start({ ...options, onProcess: end })', []],
    [
      'while Redis starts',
      'start({ ...options, onProcess: async (pid) => void setImmediate(end, pid) })',
      expect.any(Array),
    ],
    ['when Redis is ready', 'start(options).then(({ pid }) => end(pid))', ['appendonlydir']],
  ])('leaves no Redis when its own process is killed %s', async (_when, call, left) => {
    const source = `
      const options = { dir: ${JSON.stringify(dir)}, env: process.env }
      const end = (pid) => { require('node:fs').writeSync(1, String(pid)); process.kill(process.pid, 'SIGKILL') }
      import(${JSON.stringify(new URL('local-redis.ts', import.meta.url))}).then(({ startLocalRedis: start }) => ${call})`
    const parent = spawn(process.execPath, ['-e', source], { env: { PATH: process.env['PATH'] } })
    let said = ''
    parent.stdout.on('data', (text) => (said += String(text)))
    expect(await once(parent, 'close')).toEqual([null, 'SIGKILL'])
    await until(() => !isAlive(Number(said)))
    expect(await readdir(dir)).toEqual(left)
  })
})

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
