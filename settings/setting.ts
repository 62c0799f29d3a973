import { resolve } from 'node:path'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import { plainWords } from '#platform/schema-faults.ts'

export type Owner =
  | 'api'
  | 'discovery'
  | 'worker'
  | 'conductor'
  | 'watcher'
  | 'setup'
  | 'publisher'
  | 'rehearsal'
  | 'cli'

/** Its name in the table is its environment variable. */
export type Setting = {
  /** A setting without a key in remora.yaml is set in the environment only. */
  key?: string
  owners: readonly Owner[]
  /** The text of a variable is converted first, see `valueOfText`. */
  type: z.ZodType
  default?: unknown
  /** They count for single owners, where theirs differ. */
  defaults?: Partial<Record<Owner, unknown>>
  about: string
  /** The embedded stack decides it for its services; the environment of the command does not reach them. */
  setByStack?: true
  /** remora.yaml names the path from its own folder. */
  isFolder?: true
  /** It converts the text where `type` alone does not say how, and returns undefined for what is not JSON. */
  fromText?: (text: string) => unknown
  file?: Partial<FileForm>
}

export type SettingsTable = Readonly<Record<string, Setting>>

type FileForm = {
  type: z.ZodType
  /** It is as the file would have it; null for none. */
  default: unknown
  /** They carry the value to the services, and win over the file. */
  variables: readonly string[]
  /** Tells whether a variable with this text wins over the file, which says `value`. */
  isOverruledBy(text: string, value: unknown): boolean
  fromText(text: string): unknown
  /** `dir` is the folder of the file. */
  toVariables(value: unknown, dir: string): Readonly<Record<string, string>>
}

export type FileSetting = FileForm & {
  path: readonly string[]
  about: string
  /** Says why nothing reads it where the file that gives it may not decide about it. */
  unserved?: string
}

export function fileSettingsOf(variable: string, setting: Setting): FileSetting[] {
  const { key, type, about, file = {} } = setting
  if (key === undefined) return []
  const usual: FileForm = {
    type,
    default: setting.default ?? null,
    variables: [variable],
    isOverruledBy: () => true,
    fromText: (text) => valueOf(setting, text)?.data ?? text,
    toVariables: (value, dir) => ({
      [variable]: textOfValue(setting.isFolder === true ? resolve(dir, String(value)) : value),
    }),
  }
  return [{ ...usual, ...file, about, path: key.split('.') }]
}

type Value<S extends Setting, O extends Owner> = S extends { default: unknown } | { defaults: Record<O, unknown> }
  ? z.output<S['type']>
  : z.output<S['type']> | undefined

type VariablesOf<T extends SettingsTable, O extends Owner> = {
  [V in keyof T as O extends T[V]['owners'][number] ? V : never]: z.ZodType<Value<T[V], O>>
}

export function variablesOf<T extends SettingsTable, O extends Owner>(table: T, owner: O): VariablesOf<T, O>
export function variablesOf(table: SettingsTable, owner: Owner): unknown {
  const own = Object.entries(table).filter(([, { owners }]) => owners.includes(owner))
  return Object.fromEntries(own.map(([variable, setting]) => [variable, variableSchema(setting, owner)]))
}

/** Is one schema, since hundreds are made at a start. */
function variableSchema(setting: Setting, owner: Owner): z.ZodType {
  const fallback = setting.defaults?.[owner] ?? setting.default
  return z.transform((text: string | undefined, { addIssue }) => {
    if (text === undefined) return fallback
    const read = valueOf(setting, text)
    if (read === undefined) addIssue('not JSON')
    for (const issue of read?.error?.issues ?? []) addIssue({ ...issue })
    return read?.data
  })
}

function valueOf({ type, fromText }: Setting, text: string) {
  const value = fromText === undefined ? valueOfText(type, text) : fromText(text)
  return value === undefined ? undefined : type.safeParse(value, { error: plainWords })
}

/** It takes lists separated by commas, and JSON for mappings. */
function valueOfText(type: z.ZodType, text: string): unknown {
  if (type instanceof z.ZodNumber) return Number(text)
  if (type instanceof z.ZodBoolean && /^(?:true|false)$/.test(text)) return text === 'true'
  if (type instanceof z.ZodRecord) return parseJson(text)
  if (!(type instanceof z.ZodArray)) return text
  const entries = text.split(',').map((entry) => entry.trim())
  return entries.filter((entry) => entry !== '')
}

function textOfValue(value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}
