import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'
import { describeUnknownKey, plainWords, type SchemaFault, schemaFaults } from '#platform/schema-faults.ts'
import { firstFaults, maxYamlBytes, readYaml, type YamlPath } from '#platform/yaml-source.ts'
import { readOwnFile } from '#platform/own-file.ts'
import type { FileSetting } from './setting.ts'
import { fileSettings, settingsFileSchema } from './settings-table.ts'

const fileName = 'remora.yaml'
const wayWithout = 'set REMORA_CONFIG=none to go without'
const wayOut = `name it with --config or REMORA_CONFIG to use it, or ${wayWithout}`

/** A file that the user has not named may have come with the sources. */
export type FoundFile = { path: string; text: string; isNamed: boolean }

/**
 * `none` names no file. The file decides where sources are sent, so a link, or a file that others own or may write, counts only
 * when named (CONFIG_003, as for a folder of that name). CONFIG_001 when the named one cannot be read.
 */
export function findSettingsFile(cwd: string, named: string | undefined): FoundFile | undefined {
  if (named === 'none') return undefined
  if (named !== undefined && named !== '') return namedFile(resolve(cwd, named))
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const path = join(dir, fileName)
    const text = foundText(path)
    if (text !== undefined) return { path, text, isNamed: false }
    if (dirname(dir) === dir) return undefined
  }
}

function namedFile(path: string): FoundFile {
  try {
    return { path, text: readFileSync(path, 'utf8'), isNamed: true }
  } catch (cause) {
    throw new AppError('CONFIG_001', `the settings file ${path} cannot be read (${codeOf(cause)})`, { cause })
  }
}

function foundText(path: string): string | undefined {
  const file = readOwnFile(path, { maxBytes: maxYamlBytes, orOfRoot: true })
  if (file.kind === 'refused') throw new AppError('CONFIG_003', `${path} ${file.why}: ${wayOut}`)
  if (file.kind === 'text') return file.text
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory() === true)
    throw new AppError('CONFIG_003', `${path} is a folder, not a settings file: rename it, or ${wayWithout}`)
  return undefined
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}

export type GivenSetting = {
  setting: FileSetting
  value: unknown
  line: number
  lineOf(path: YamlPath): number
}

/** Names the first twenty faults in one error: CONFIG_002 for no YAML or too much, CONFIG_004 when all are unknown keys, else CONFIG_003. */
export function readSettingsFile(path: string, source: string): GivenSetting[] {
  if (/[\0\uFFFD]/.test(source)) throw new AppError('CONFIG_002', `${path} is not a text file in UTF-8`)
  const { value, faults, placeOf } = readYaml(source)
  if (faults.length > 0) {
    const messages = faults.map(({ at, message }) => `${path}:${at.line}:${at.column}: ${message}`)
    throw new AppError('CONFIG_002', messages.join('; '))
  }
  const lineOf = (at: YamlPath) => placeOf(at).line
  const schema = settingsFileSchema()
  const parsed = schema.safeParse(withoutEmpty(value ?? {}), { error: plainWords })
  if (!parsed.success) {
    const wrong = schemaFaults(parsed.error)
    const messages = firstFaults(
      wrong,
      (fault) => `${path}:${lineOf(fault.at)}: ${describe(fault, schema)}`,
      (more, next) => `${path}:${lineOf(next.at)}: and ${more} more faults`,
    )
    const code = wrong.every(({ isUnknownKey }) => isUnknownKey) ? 'CONFIG_004' : 'CONFIG_003'
    throw new AppError(code, messages.join('; '))
  }
  return fileSettings.flatMap((setting) => {
    const given = valueAt(parsed.data, setting.path)
    return given === undefined ? [] : [{ setting, value: given, line: lineOf(setting.path), lineOf }]
  })
}

/** A section whose lines are all comments is null in YAML; here it becomes a section without values. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(entries.map(([key, inner]) => [key, withoutEmpty(inner)]))
}

function describe(fault: SchemaFault, schema: z.ZodObject): string {
  if (fault.isUnknownKey) return describeUnknownKey(schema, fault)
  if (fault.at.length === 0) return 'the file must consist of sections with keys, such as "agents: { dir: my-agents }"'
  return `${fault.at.join('.')}: ${fault.message}`
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  const [key, ...rest] = path
  if (key === undefined) return value
  const inner = z.record(z.string(), z.unknown()).safeParse(value).data?.[key]
  return inner === undefined ? undefined : valueAt(inner, rest)
}

export function misnamedSettings(cwd: string): string | undefined {
  for (let dir = resolve(cwd); ; dir = dirname(dir)) {
    const path = join(dir, 'remora.yml')
    if (existsSync(path)) return path
    if (existsSync(join(dir, 'remora.yaml')) || dirname(dir) === dir) return undefined
  }
}
