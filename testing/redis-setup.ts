import { redisServer, ruff } from '#platform/known-programs.ts'
import { putProgramOnPath } from './put-program-on-path.ts'

/**
 * Named in vitest.config.ts: runs before any worker starts. A missing Redis fails the tests that start one; others use
 * REMORA_TEST_REDIS_URL or a container, so it is only reported here.
 */
export async function setup(): Promise<void> {
  for (const program of [redisServer, ruff]) {
    await putProgramOnPath(program, process.env).catch((error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
    })
  }
}
