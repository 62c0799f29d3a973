import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { Env } from './env.ts'

/**
 * Where programs that were got are kept: a folder of the user, never one of the working folder, whose content came with
 * somebody's repository. `env` is the process's own environment: no settings file decides. Undefined for a user without
 * a home.
 */
export function programCache(env: Env): string | undefined {
  const cache = env['XDG_CACHE_HOME'] ?? ''
  if (isAbsolute(cache)) return join(cache, 'remora')
  const home = [env['HOME'] ?? '', registeredHome()].find((folder) => isAbsolute(folder))
  return home === undefined ? undefined : join(home, '.cache', 'remora')
}

/** What the system's list of users says; `homedir()` believes HOME, whatever it holds. */
function registeredHome(): string {
  try {
    return userInfo().homedir
  } catch {
    return '' // a number without a user, as containers have them
  }
}
