import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import type { CliConfig } from './config.ts'

/**
 * Where programs that were got are kept: a folder of the user, never one of the working folder, whose content came with
 * somebody's repository. Only the process's own environment decides, no settings file.
 */
export function programCache({ settings: { own } }: Pick<CliConfig, 'settings'>): string {
  const cache = own['XDG_CACHE_HOME'] ?? ''
  return join(isAbsolute(cache) ? cache : join(own['HOME'] || homedir(), '.cache'), 'remora')
}
