import { z } from 'zod'
import { openModelPool } from '#models/model-pool.ts'
import { openSharedPlaces } from '#models/pool/places/shared-places.ts'
import { connectRedis } from '#platform/connect-redis.ts'

/** A process of its own that keeps `atOnce` requests going through a pool with shared places, until its parent is gone. */
const Asking = z.strictObject({
  /** Its name, also of the model it asks for: so that the server knows whose a request is. */
  holder: z.string(),
  url: z.url(),
  redisUrl: z.url(),
  namespace: z.string(),
  maxInFlight: z.int(),
  leaseMs: z.int(),
  atOnce: z.int(),
})

const { holder, url, redisUrl, namespace, maxInFlight, leaseMs, atOnce } = Asking.parse(
  JSON.parse(process.argv[2] ?? '{}'),
)
const quiet = { warn() {}, info() {} }
const { redis } = connectRedis(redisUrl, { retries: null }, quiet)
const places = openSharedPlaces({ redis, holder, namespace, leaseMs, log: quiet })
const limits = { requestTimeoutMs: 60_000, retryBudgetMs: 60_000, maxInFlight: atOnce }
const pool = openModelPool({ endpoints: [{ url, maxInFlight }], ...limits, places })
const stop = new AbortController()
process.once('disconnect', () => stop.abort(new Error('the parent is gone')))

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
