import type { AgentBundle } from '#domain/agent-bundle.ts'
import { AppError } from '#domain/error.ts'

export type SettingValue = string | number | boolean

/**
 * A bundle's settings with what the user set. CONFIG_004 for a setting it does not have, CONFIG_003 for a wrong value.
 */
export function resolveSettings(
  bundle: Pick<AgentBundle, 'file'>,
  given: Readonly<Record<string, unknown>>,
): Record<string, SettingValue> {
  const { name, settings } = bundle.file
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(settings, key))
  if (unknown !== undefined) {
    const known = Object.keys(settings).join(', ') || 'none'
    throw new AppError('CONFIG_004', `agents.settings.${name}: no setting ${JSON.stringify(unknown)}; known: ${known}`)
  }
  return Object.fromEntries(
    Object.entries(settings).map(([key, setting]) => {
      const value = Object.hasOwn(given, key) ? given[key] : setting.default
      return [key, checked(value, setting, `agents.settings.${name}.${key}`)]
    }),
  )
}

function checked(value: unknown, setting: AgentBundle['file']['settings'][string], name: string): SettingValue {
  const choice = setting.enum?.find((allowed) => allowed === value)
  if (choice !== undefined) return choice
  if (setting.enum !== undefined) {
    const choices = setting.enum.map((allowed) => JSON.stringify(allowed)).join(', ')
    throw new AppError('CONFIG_003', `${name} must be one of [${choices}], got: ${JSON.stringify(value)}`)
  }
  if (typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number') {
    if (typeof value === typeof setting.default) return value
  }
  throw new AppError('CONFIG_003', `${name} must be a ${typeof setting.default}, got: ${JSON.stringify(value)}`)
}
