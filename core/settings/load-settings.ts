import { readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { AppError } from '#domain/error.ts'
import { givenValue, type Env } from '#platform/env.ts'
import { findSettingsFile } from './find-settings-file.ts'
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
}

/**
 * Finds and reads the settings file (`REMORA_CONFIG`, or `remora.yaml` from `cwd` upwards). An empty or blank variable
 * counts as unset. CONFIG_001 to CONFIG_004 as `findSettingsFile` and `readSettingsFile` say.
 */
export function loadSettings(env: Env, cwd: string): Settings {
  const path = findSettingsFile(cwd, env['REMORA_CONFIG'])
  if (path === undefined) return { path, given: [], env }
  const given = readSettingsFile(path, readText(path))
  const said: Record<string, string> = {}
  for (const { setting, value } of given) Object.assign(said, setting.toEnv(value, dirname(path)))
  const set = Object.entries(env).filter(([name]) => givenValue(env, name) !== undefined)
  return { path, given, env: { ...env, ...said, ...Object.fromEntries(set) } }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new AppError('CONFIG_001', `the settings file ${path} cannot be read`, { cause: error })
  }
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
    const variable = setting.variables.find((name) => {
      const text = givenValue(env, name)
      return text !== undefined && setting.isSaidBy(text)
    })
    if (variable !== undefined) return { setting, value: env[variable], source: { kind: 'environment', variable } }
    const found = inFile.get(setting.path.join('.'))
    if (found !== undefined) return { setting, value: found.value, source: { kind: 'file', line: found.line } }
    return { setting, value: setting.fallback, source: { kind: 'default' } }
  })
}
