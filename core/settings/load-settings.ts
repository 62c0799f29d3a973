import { dirname } from 'node:path'
import { AppError } from '#domain/error.ts'
import { givenValue, type Env } from '#platform/env.ts'
import { findSettingsFile, type FoundFile, type GivenSetting, readSettingsFile } from './read-settings-file.ts'
import { withSecretFiles } from './secret-files.ts'
import type { FileSetting } from './setting.ts'
import { fileSettings } from './settings-table.ts'

export type Settings = {
  path: string | undefined
  given: readonly GivenSetting[]
  /** The environment, with the file's values for variables that it does not set. Services read nothing else. */
  env: Env
  /** Why the key in `env` must not be sent to the model servers in it. To be thrown instead of sending it. */
  keyFault?: AppError
}

/**
 * Reads REMORA_CONFIG or the nearest `remora.yaml` from `cwd` up, and secrets that are in files. CONFIG_001 to 004: see
 * read-settings-file.ts and secret-files.ts.
 */
export function loadSettings(given: Env, cwd: string): Settings {
  return settingsOf(withSecretFiles(given), cwd)
}

function settingsOf(env: Env, cwd: string): Settings {
  const file = findSettingsFile(cwd, givenValue(env, 'REMORA_CONFIG'))
  if (file === undefined) return { path: undefined, given: [], env }
  const { path } = file
  const given = readSettingsFile(path, file.text)
  const fromFile: Record<string, string> = {}
  for (const { setting, value } of given) {
    if (overruling(setting, value, env) === undefined)
      Object.assign(fromFile, setting.toVariables(value, dirname(path)))
  }
  const set = Object.entries(env).filter(([name]) => givenValue(env, name) !== undefined)
  const all = { ...env, ...fromFile, ...Object.fromEntries(set) }
  return { path, given, env: all, ...misledKey(file, given, env, fromFile) }
}

/** A file that came with the sources must not choose the servers that the key is sent to. */
function misledKey({ path, isNamed }: FoundFile, given: readonly GivenSetting[], env: Env, fromFile: Env) {
  const pool = given.find(({ setting }) => setting.path.join('.') === 'model.pool')
  const isAsked = ![undefined, 'rehearsal'].includes(fromFile['REMORA_MODEL_URLS'])
  if (isNamed || pool === undefined || !isAsked || givenValue(env, 'REMORA_MODEL_API_KEY') === undefined) return {}
  const wayOn = 'name the file with --config or REMORA_CONFIG, or set REMORA_MODEL_URLS'
  const message = `${path}:${pool.line}: REMORA_MODEL_API_KEY would be sent to servers of a file that was only found: ${wayOn}`
  return { keyFault: new AppError('CONFIG_003', message) }
}

function overruling(setting: FileSetting, value: unknown, env: Env): string | undefined {
  return setting.variables.find((name) => {
    const text = givenValue(env, name)
    return text !== undefined && setting.isOverruledBy(text, value)
  })
}

export type EffectiveSetting = {
  setting: FileSetting
  /** As the file would have it; of an invalid variable its text. */
  value: unknown
  source: { kind: 'default' } | { kind: 'file'; line: number } | { kind: 'environment'; variable: string }
}

/** Every setting with the value that counts and where it comes from. `env` is the process's own, without the files. */
export function effectiveSettings({ given }: Pick<Settings, 'given'>, env: Env): EffectiveSetting[] {
  const inFile = new Map(given.map((one) => [one.setting.path.join('.'), one]))
  const all = withSecretFiles(env)
  const nameOf = (variable: string) => (givenValue(env, variable) === undefined ? `${variable}_FILE` : variable)
  return fileSettings.map((setting) => {
    const found = inFile.get(setting.path.join('.'))
    const variable = overruling(setting, found?.value, all)
    if (variable !== undefined) {
      const value = setting.fromText(all[variable] ?? '')
      return { setting, value, source: { kind: 'environment', variable: nameOf(variable) } }
    }
    if (found !== undefined) return { setting, value: found.value, source: { kind: 'file', line: found.line } }
    return { setting, value: setting.default, source: { kind: 'default' } }
  })
}
