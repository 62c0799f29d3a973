import { dirname } from 'node:path'
import { AppError } from '#domain/error.ts'
import { givenValue, type Env } from '#platform/env.ts'
import { findSettingsFile, type FoundFile } from './find-settings-file.ts'
import { readSettingsFile, type GivenSetting } from './read-settings-file.ts'
import type { Setting } from './setting.ts'
import { settingsOf } from './setting.ts'
import { SettingsFile } from './settings-schema.ts'

export type Settings = {
  /** Of the file; undefined when there is none. */
  path: string | undefined
  given: readonly GivenSetting[]
  /** The environment, and what the file says where the environment is silent: all a service reads. */
  env: Env
  /** Why the key in `env` must not be handed to the model servers in it; whoever would do so throws this instead. */
  keyFault?: AppError
}

/**
 * Finds and reads the settings file (`REMORA_CONFIG`, or `remora.yaml` from `cwd` upwards). An empty or blank variable
 * counts as unset. CONFIG_001 to CONFIG_004 as `findSettingsFile` and `readSettingsFile` say.
 */
export function loadSettings(env: Env, cwd: string): Settings {
  const file = findSettingsFile(cwd, givenValue(env, 'REMORA_CONFIG'))
  if (file === undefined) return { path: undefined, given: [], env }
  const { path } = file
  const given = readSettingsFile(path, file.text)
  const said: Record<string, string> = {}
  for (const { setting, value } of given) {
    if (overruling(setting, value, env) === undefined) Object.assign(said, setting.toEnv(value, dirname(path)))
  }
  const set = Object.entries(env).filter(([name]) => givenValue(env, name) !== undefined)
  const all = { ...env, ...said, ...Object.fromEntries(set) }
  return { path, given, env: all, ...misledKey(file, given, env, said) }
}

/** A file that came with the sources must not choose who is given the key of the model servers. */
function misledKey({ path, isNamed }: FoundFile, given: readonly GivenSetting[], env: Env, said: Env) {
  const pool = given.find(({ setting }) => setting.path.join('.') === 'model.pool')
  const isAsked = ![undefined, 'rehearsal'].includes(said['REMORA_MODEL_URLS'])
  if (isNamed || pool === undefined || !isAsked || givenValue(env, 'REMORA_MODEL_API_KEY') === undefined) return {}
  const wayOn = 'name the file with --config or REMORA_CONFIG, or set REMORA_MODEL_URLS'
  const message = `${path}:${pool.line}: REMORA_MODEL_API_KEY would be sent to servers of a file that was only found: ${wayOn}`
  return { keyFault: new AppError('CONFIG_003', message) }
}

/** The variable of `env` that counts instead of what the file says. */
function overruling(setting: Setting, value: unknown, env: Env): string | undefined {
  return setting.variables.find((name) => {
    const text = givenValue(env, name)
    return text !== undefined && setting.isSaidBy(text, value)
  })
}

/** Every variable that a setting can be made by. */
export function settingVariables(): string[] {
  return [...new Set(settingsOf(SettingsFile).flatMap(({ variables }) => variables))]
}

export type EffectiveSetting = {
  setting: Setting
  /** As the file would say it, or the text of a variable. */
  value: unknown
  source: { kind: 'default' } | { kind: 'file'; line: number } | { kind: 'environment'; variable: string }
}

/** Every setting with the value that counts and where it comes from. `env` is the process's own, without the file. */
export function effectiveSettings({ given }: Pick<Settings, 'given'>, env: Env): EffectiveSetting[] {
  const inFile = new Map(given.map((one) => [one.setting.path.join('.'), one]))
  return settingsOf(SettingsFile).map((setting) => {
    const found = inFile.get(setting.path.join('.'))
    const variable = overruling(setting, found?.value, env)
    if (variable !== undefined) {
      const value = setting.fromEnv(env[variable] ?? '')
      return { setting, value, source: { kind: 'environment', variable } }
    }
    if (found !== undefined) return { setting, value: found.value, source: { kind: 'file', line: found.line } }
    return { setting, value: setting.fallback, source: { kind: 'default' } }
  })
}
