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
  /** The file's values count for variables that the environment does not set. Services read nothing else. */
  env: Env
  /** It is thrown instead of sending the key to the model servers in `env`. */
  keyFault?: AppError
  /** It is thrown instead of starting a setup, which has a network and would read folders of the machine. */
  pathsFault?: AppError
}

/**
 * REMORA_CONFIG counts, else the nearest `remora.yaml` from `cwd` up, and secrets in files. CONFIG_001 to 004 as in
 * read-settings-file.ts and secret-files.ts; CONFIG_003 also when a file that was only found decides about setups.
 */
export function loadSettings(given: Env, cwd: string): Settings {
  return settingsOf(withSecretFiles(given), cwd)
}

function settingsOf(env: Env, cwd: string): Settings {
  const file = findSettingsFile(cwd, givenValue(env, 'REMORA_CONFIG'))
  if (file === undefined) return { path: undefined, given: [], env }
  const { path } = file
  const given = withoutSetup(file, readSettingsFile(path, file.text), env)
  const fromFile: Record<string, string> = {}
  for (const { setting, value } of given) {
    if (setting.unserved === undefined && overruling(setting, value, env) === undefined)
      Object.assign(fromFile, setting.toVariables(value, dirname(path)))
  }
  const set = Object.entries(env).filter(([name]) => givenValue(env, name) !== undefined)
  const all = { ...env, ...fromFile, ...Object.fromEntries(set) }
  return { path, given, env: all, ...misledKey(file, given, env, fromFile), ...misledPaths(file, given, env) }
}

/** These keys decide whether the sources may have a command run, and what that command reaches and finds. */
const setupRights = ['setup.mode', 'setup.registries', 'setup.internal_registries', 'setup.variables']
const wayToName = 'name the file with --config or REMORA_CONFIG, or set'

/** A file that came with the sources must not let them run a setup, which has a network: CONFIG_003. Its command counts where the user allows setups. */
function withoutSetup({ path, isNamed }: FoundFile, given: readonly GivenSetting[], env: Env): GivenSetting[] {
  const counting = ({ setting, value }: GivenSetting) => overruling(setting, value, env) === undefined
  const isUsual = ({ setting, value }: GivenSetting) => JSON.stringify(value) === JSON.stringify(setting.default)
  const keyOf = ({ setting }: GivenSetting) => setting.path.join('.')
  if (isNamed) return [...given]
  const [first, ...more] = given.filter(
    (entry) => setupRights.includes(keyOf(entry)) && counting(entry) && !isUsual(entry),
  )
  if (first !== undefined) {
    const all = [first, ...more]
    const words = `${path}:${first.line}: ${all.map(keyOf).join(', ')} of a file that was only found would decide about setups`
    const variables = all.flatMap(({ setting }) => setting.variables).join(', ')
    throw new AppError('CONFIG_003', `${words}: ${wayToName} ${variables}`)
  }
  if (!['off', undefined].includes(givenValue(env, 'REMORA_SETUP'))) return [...given]
  const unserved = 'a file that was only found names no setup: use --setup, or set REMORA_SETUP=on'
  return given.map((entry) =>
    keyOf(entry) === 'setup.command' ? { ...entry, setting: { ...entry.setting, unserved } } : entry,
  )
}

/** A file that came with the sources must not choose what a command with a network reads of this machine. */
function misledPaths({ path, isNamed }: FoundFile, given: readonly GivenSetting[], env: Env) {
  const paths = given.find(({ setting }) => setting.path.join('.') === 'sandbox.paths')
  if (isNamed || paths === undefined || overruling(paths.setting, paths.value, env) !== undefined) return {}
  const words = `${path}:${paths.line}: a setup would read the sandbox.paths of a file that was only found`
  return { pathsFault: new AppError('CONFIG_003', `${words}: ${wayToName} REMORA_SANDBOX_PATHS`) }
}

/** A file that came with the sources must not choose the servers that the key is sent to. */
function misledKey({ path, isNamed }: FoundFile, given: readonly GivenSetting[], env: Env, fromFile: Env) {
  const pool = given.find(({ setting }) => setting.path.join('.') === 'model.pool')
  const isAsked = ![undefined, 'rehearsal'].includes(fromFile['REMORA_MODEL_URLS'])
  if (isNamed || pool === undefined || !isAsked || givenValue(env, 'REMORA_MODEL_API_KEY') === undefined) return {}
  const wayOn = `${wayToName} REMORA_MODEL_URLS`
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
  /** It is as the file would have it; for an invalid variable it is the variable's text. */
  value: unknown
  source: { kind: 'default' } | { kind: 'file'; line: number } | { kind: 'environment'; variable: string }
}

/** `env` is the process's own, without the files. */
export function effectiveSettings({ given }: Pick<Settings, 'given'>, env: Env): EffectiveSetting[] {
  const counting = given.filter(({ setting }) => setting.unserved === undefined)
  const inFile = new Map(counting.map((entry) => [entry.setting.path.join('.'), entry]))
  const all = withSecretFiles(env)
  const nameOf = (variable: string) => (givenValue(env, variable) === undefined ? `${variable}_FILE` : variable)
  return fileSettings.map((setting) => {
    const fromFile = inFile.get(setting.path.join('.'))
    const variable = overruling(setting, fromFile?.value, all)
    if (variable !== undefined) {
      const value = setting.fromText(all[variable] ?? '')
      return { setting, value, source: { kind: 'environment', variable: nameOf(variable) } }
    }
    if (fromFile !== undefined) return { setting, value: fromFile.value, source: { kind: 'file', line: fromFile.line } }
    return { setting, value: setting.default, source: { kind: 'default' } }
  })
}

/** Returns the beginning of a message: `remora.yaml:4: `, the variable that overrules the file, or '' for a default. */
export function placeOfSetting({ path, given }: Pick<Settings, 'path' | 'given'>, env: Env, key: readonly string[]) {
  const setting = fileSettings.find((candidate) => candidate.path.every((part, index) => part === key[index]))
  if (setting === undefined) return ''
  const fromFile = given.find((candidate) => candidate.setting.path.join('.') === setting.path.join('.'))
  const variable = overruling(setting, fromFile?.value, withSecretFiles(env))
  if (variable !== undefined) return `${variable}: `
  return fromFile === undefined || path === undefined ? '' : `${path}:${fromFile.lineOf(key)}: `
}
