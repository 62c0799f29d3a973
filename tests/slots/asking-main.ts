import { z } from 'zod'
import { openModelPool } from '#models/model-pool.ts'
import { openSharedSlots } from '#models/pool/slots/shared-slots.ts'
import { connectRedis } from '#platform/redis-client.ts'
import { silentLog } from '#platform/log.ts'

/** A separate process that keeps `atOnce` requests in flight through a pool with shared slots, until its parent exits. */
const Asking = z.strictObject({
  /** Its name, and that of the model in its requests, by which the server knows which process sent them. */
  holder: z.string(),
  url: z.url(),
  redisUrl: z.url(),
  namespace: z.string(),
  maxInFlightOfAll: z.int(),
  leaseMs: z.int(),
  atOnce: z.int(),
})

const { holder, url, redisUrl, namespace, maxInFlightOfAll, leaseMs, atOnce } = Asking.parse(
  JSON.parse(process.argv[2] ?? '{}'),
)
const { redis } = connectRedis(redisUrl, { retries: null }, silentLog)
const slots = openSharedSlots({ redis, holder, namespace, leaseMs, log: silentLog })
const limits = { requestTimeoutMs: 60_000, retryBudgetMs: 60_000, maxInFlight: atOnce }
const pool = openModelPool({ endpoints: [{ url, maxInFlightOfAll }], ...limits, slots })
const stop = new AbortController()
process.once('disconnect', () => stop.abort(new Error('the parent has exited')))

const request = {
  model: holder,
  messages: [{ role: 'user' as const, content: 'hello' }],
  tools: [],
  toolChoice: 'auto' as const,
  temperature: 0,
  maxTokens: 10,
}
const asking = Array.from({ length: atOnce }, async () => {
  while (!stop.signal.aborted) await pool.complete(request, stop.signal)
})
await Promise.allSettled(asking)
await pool.close()
redis.disconnect()
