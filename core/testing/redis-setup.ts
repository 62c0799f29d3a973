import { putRedisOnPath } from '#platform/obtain-redis.ts'

/**
 * Puts a Redis on the PATH of all tests before any vitest worker starts. Named in vitest.config.ts. Tests with
 * REMORA_TEST_REDIS_URL or a container need no program, so a missing one is only reported here; it fails the tests that
 * start one.
 */
export async function setup(): Promise<void> {
  await putRedisOnPath(process.env).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  })
}
