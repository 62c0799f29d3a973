import { putRedisOnPath } from '#platform/redis-on-path.ts'

/**
 * A Redis on the PATH of all tests, got before any worker starts. Named in vitest.config.ts. Tests that use
 * REMORA_TEST_REDIS_URL or a container need no program, so a missing one is only said here; it fails the tests that
 * start one.
 */
export async function setup(): Promise<void> {
  await putRedisOnPath(process.env).catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  })
}
