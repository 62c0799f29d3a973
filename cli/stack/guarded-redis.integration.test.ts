import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { startGuardedRedis } from './guarded-redis.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

const entry = fileURLToPath(new URL('guarded-redis-main.ts', import.meta.url))

let dir = ''
useFreshFolder((path) => (dir = path))

/** The Redis process that a guard has started, as soon as there is one. */
async function serverOf(guard: ChildProcess): Promise<number | undefined> {
  const ids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  for (const id of ids) {
    const stat = await readFile(`/proc/${id}/stat`, 'utf8').catch(() => '')
    const parent = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]
    if (parent === String(guard.pid)) return Number(id)
  }
  return undefined
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

function startGuard(): ChildProcess {
  return fork(entry, [dir, 'redis-server'], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'], execArgv: [] })
}

describe('the process that guards Redis', () => {
  it('leaves no Redis when its parent ends before Redis is ready', async () => {
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const guard = startGuard()
      const exited = once(guard, 'exit')
      guard.send({ password: 'secret', env: { PATH: process.env['PATH'] } })
      const server = await until(() => serverOf(guard))
      guard.disconnect()
      await exited
      expect(isAlive(server)).toBe(false)
    }
  })

  it('ends when its parent ends before it has sent anything', async () => {
    const guard = startGuard()
    const exited = once(guard, 'exit')
    guard.disconnect()
    expect(await exited).toEqual([0, null])
  })

  it('is known to the lock before there is a Redis', async () => {
    const filesThen: string[][] = []
    const onGuard = async (pid: number) => {
      expect(process.kill(pid, 0)).toBe(true)
      filesThen.push(await readdir(dir))
    }
    const redisDir = join(dir, 'redis')
    const { env } = process
    const redis = await startGuardedRedis({ dir: redisDir, env, program: 'redis-server', password: 'secret', onGuard })
    expect(filesThen).toEqual([[]])
    expect(await readdir(dir)).toEqual(['redis'])
    await redis.stop()
  })
})
