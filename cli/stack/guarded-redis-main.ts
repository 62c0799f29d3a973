import { once } from 'node:events'
import { z } from 'zod'
import { asAppError } from '#domain/error.ts'
import { delay } from '#platform/clock.ts'
import { startLocalRedis } from '#platform/local-redis.ts'
import { stopWithParent } from '#platform/service-process.ts'

// Child process of guarded-redis.ts: owns the Redis program, so that Redis ends even when the stack is killed.
const [dir, program] = z.tuple([z.string(), z.string()]).parse(process.argv.slice(2))
if (process.send === undefined) throw new Error('guarded-redis-main.ts is started by guarded-redis.ts')

const lookMs = 500
const stopping = new AbortController()
const owned = { stop: async () => {} }
// Set up before the first message. `owned.stop` waits for a start in progress, then stops Redis.
stopWithParent(() => owned.stop())

const [message]: unknown[] = await once(process, 'message')
const Start = z.object({ password: z.string(), env: z.record(z.string(), z.string()) })
const { password, env } = Start.parse(message)
const starting = startLocalRedis({ dir, env, program, password, signal: stopping.signal })
owned.stop = async () => {
  stopping.abort()
  const redis = await starting.catch(() => undefined)
  await redis?.stop()
}
process.once('message', () => void owned.stop().then(() => process.exit(0)))

try {
  const redis = await starting
  process.send({ url: redis.url, pid: redis.pid })
  await waitForEnd(redis.pid)
  process.exit(1)
} catch (error) {
  const { code, message: reason } = asAppError(error, 'CONFIG_006')
  if (!stopping.signal.aborted) process.send({ code, message: reason }, () => process.exit(1))
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
