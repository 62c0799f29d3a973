import { getCompileCacheDir } from 'node:module'

/**
 * The environment of a thread of ours: nothing of the process's own, only where compiled code is kept. A thread does not
 * take that over by itself, and would compile all its modules again, which is half of its start.
 */
export function threadEnv(): Record<string, string> {
  const dir = getCompileCacheDir()
  return dir === undefined ? {} : { NODE_COMPILE_CACHE: dir }
}
