import { putRedisOnPath } from '#platform/obtain-redis.ts'
import { putRuffOnPath } from '#platform/obtain-ruff.ts'

/**
 * Named in vitest.config.ts: runs before any worker starts. A missing Redis fails the tests that start one; others use
 * REMORA_TEST_REDIS_URL or a container, so it is only reported here.
 */
export async function setup(): Promise<void> {
  for (const put of [putRedisOnPath, putRuffOnPath]) {
    await put(process.env).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    })
  }
}
