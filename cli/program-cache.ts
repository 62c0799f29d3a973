import { userInfo } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { CliConfig } from './config.ts'

/**
 * Where programs that were got are kept: a folder of the user, never one of the working folder, whose content came with
 * somebody's repository. Only the process's own environment decides, no settings file. Undefined for a user without a
 * home.
 */
export function programCache({ settings: { own } }: Pick<CliConfig, 'settings'>): string | undefined {
  const cache = own['XDG_CACHE_HOME'] ?? ''
  if (isAbsolute(cache)) return join(cache, 'remora')
  const home = [own['HOME'] ?? '', registeredHome()].find((folder) => isAbsolute(folder))
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
