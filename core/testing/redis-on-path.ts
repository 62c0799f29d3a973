import { delimiter, dirname } from 'node:path'
import { obtainRedis } from '#platform/obtain-redis.ts'
import { programCache } from '#platform/program-cache.ts'

/**
 * Gets a Redis as `remora run` does, and puts its folder on this process's PATH when it is not there: what this process
 * starts finds it, vitest's workers too. CONFIG_006 when none is to be had. What takes long is said on stderr.
 */
export async function putRedisOnPath(signal: AbortSignal = new AbortController().signal): Promise<void> {
  const { env } = process
  const searchPath = env['PATH'] ?? ''
  const programDir = programCache(env)
  const program = await obtainRedis({
    searchPath,
    programDir,
    mayInstall: env['REMORA_REDIS_INSTALL'] !== 'never',
    isRoot: process.getuid?.() === 0,
    env,
    say: (line) => void process.stderr.write(`${line}\n`),
    signal,
  })
  const folder = dirname(program)
  if (searchPath.split(delimiter).includes(folder)) return
  // Before the others only where nothing else is in it: a Redis on the PATH may be too old.
  env['PATH'] = (folder === programDir ? [folder, searchPath] : [searchPath, folder]).join(delimiter)
}

/**
 * For vitest.config.ts: once per run, before any worker starts. Tests that use REMORA_TEST_REDIS_URL or a container need
 * no program, so a missing one is only said here; it fails the tests that start one.
 */
export async function setup(): Promise<void> {
  await putRedisOnPath().catch((error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  })
}
