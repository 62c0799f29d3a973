import { delimiter, dirname } from 'node:path'
import { obtainRedis } from './obtain-redis.ts'
import { programCache } from './program-cache.ts'

/**
 * Gets a Redis as `remora run` does, for tests and measurements, and puts its folder into the PATH of `env`, this
 * process's environment, when it is not there: what this process starts finds it. CONFIG_006 when none is to be had. What
 * takes long is said on stderr.
 */
export async function putRedisOnPath(
  env: NodeJS.ProcessEnv,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
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
