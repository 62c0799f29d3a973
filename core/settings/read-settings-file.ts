import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { schemaFaults, type SchemaFault } from '#platform/schema-faults.ts'
import { describeUnknownKey } from '#platform/unknown-key.ts'
import { readYaml } from '#platform/yaml-source.ts'
import { SettingsFile } from './settings-schema.ts'
import { settingsOf, type Setting } from './setting.ts'

/** One value of the file, and the line it is on. */
export type GivenSetting = { setting: Setting; value: unknown; line: number }

/**
 * The values a `remora.yaml` sets, in the schema's order. Every fault is named with its line in one error: CONFIG_002 for
 * what is no YAML, CONFIG_004 when all are unknown keys (with the nearest known one), CONFIG_003 for anything else.
 */
export function readSettingsFile(path: string, source: string): GivenSetting[] {
  const { value, faults, placeOf } = readYaml(source)
  if (faults.length > 0) {
    const told = faults.map(({ at, message }) => `${path}:${at.line}:${at.column}: ${message}`)
    throw new AppError('CONFIG_002', told.join('; '))
  }
  const parsed = SettingsFile.safeParse(withoutEmpty(value ?? {}))
  if (!parsed.success) {
    const found = schemaFaults(parsed.error)
    const told = found.map((fault) => `${path}:${placeOf(fault.at).line}: ${describe(fault)}`)
    throw new AppError(found.every(({ isUnknownKey }) => isUnknownKey) ? 'CONFIG_004' : 'CONFIG_003', told.join('; '))
  }
  return settingsOf(SettingsFile).flatMap((setting) => {
    const given = valueAt(parsed.data, setting.path)
    return given === undefined ? [] : [{ setting, value: given, line: placeOf(setting.path).line }]
  })
}

/** A section of which all lines are comments is null in YAML; here it is one without values. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutEmpty(inner)]))
}

function describe(fault: SchemaFault): string {
  if (fault.isUnknownKey) return describeUnknownKey(SettingsFile, fault)
  return `${fault.at.join('.') || 'the file'}: ${fault.message}`
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  const inner = z.record(z.string(), z.unknown()).safeParse(value).data?.[key]
  return inner === undefined ? undefined : valueAt(inner, rest)
}
