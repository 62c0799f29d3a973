import { z } from 'zod'
import { asAppError } from '#domain/error.ts'
import { delay } from '#platform/clock.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import { stopWithParent } from '#platform/shutdown.ts'

// Child process of guarded-redis.ts: owns the Redis program, so that it ends even when the stack is killed outright.
const [dir, program] = z.tuple([z.string(), z.string()]).parse(process.argv.slice(2))
if (process.send === undefined) throw new Error('guarded-redis-main.ts is started by guarded-redis.ts')

const lookMs = 500
const starting = new AbortController()
const owned = { stop: async () => starting.abort() }
stopWithParent(() => owned.stop())
process.once('message', () => void owned.stop().then(() => process.exit(0)))

try {
  const redis = await startLocalRedis({ dir, program, signal: starting.signal })
  owned.stop = redis.stop
  process.send({ url: redis.url, pid: redis.pid })
  await waitForEnd(redis.pid)
  process.exit(1)
} catch (error) {
  const { code, message } = asAppError(error, 'CONFIG_006')
  process.send({ code, message }, () => process.exit(1))
}

async function waitForEnd(pid: number): Promise<void> {
  for (;;) {
    await delay(lookMs)
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
  }
}
