import { asAppError } from '#domain/error.ts'
import type { Env } from '#platform/env.ts'
import { loadSettings } from '#settings/load-settings.ts'
import { readCliConfig, type CliConfig } from './cli-config.ts'

/** Returns the effective settings. When they are invalid, none of them counts and `fault` has the error. */
export function readCliSettings(args: readonly string[], given: Env, cwd: string): CliConfig {
  const named = fileOfConfigFlag(args)
  const own = named === undefined ? given : { ...given, REMORA_CONFIG: named }
  try {
    const { env, ...settings } = loadSettings(own, cwd)
    return readCliConfig(env, { ...settings, own }, cwd)
  } catch (error) {
    const { PATH, HOME, TERM, NO_COLOR } = given
    const fault = asAppError(error, 'CONFIG_003')
    return readCliConfig({ PATH, HOME, TERM, NO_COLOR }, { path: undefined, given: [], own: {}, fault }, cwd)
  }
}

/** `--config FILE` must be known before the other options are parsed, because it decides their defaults. */
function fileOfConfigFlag(args: readonly string[]): string | undefined {
  const end = args.indexOf('--')
  const options = end < 0 ? args : args.slice(0, end)
  const at = options.findLastIndex((arg) => arg === '--config' || arg.startsWith('--config='))
  const flag = options[at]
  return flag === '--config' ? options[at + 1] : flag?.slice('--config='.length)
}
