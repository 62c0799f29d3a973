import { z } from 'zod'

/** What is known of a setting beside its schema. */
export type SettingMeta = {
  about: string
  /** What counts when nobody sets it, as it would stand in the file. */
  fallback: unknown
  /** The variables that carry it to the services, and that win over the file. */
  variables: readonly string[]
  /** Whether a variable that holds `text` overrules this setting, for which the file says `value`. */
  isSaidBy(text: string, value: unknown): boolean
  /** What such a variable comes to. */
  fromEnv(text: string): unknown
  /** Its value as those variables say it. `dir` is the folder of the file. */
  toEnv(value: unknown, dir: string): Readonly<Record<string, string>>
  /** Why nothing reads it yet. */
  unserved?: string
}

/** Of the schemas that `setting` made. */
const known = new WeakMap<z.core.$ZodType, SettingMeta>()

type MetaGiven<T> = {
  about: string
  fallback: T | null
  env?: string
  /** Its value as `env` says it; lists are joined by commas, the rest is text. */
  say?: (value: T, dir: string) => string
  toEnv?: (value: T, dir: string) => Readonly<Record<string, string>>
  variables?: readonly string[]
  isSaidBy?: (text: string, value: unknown) => boolean
  fromEnv?: (text: string) => unknown
  unserved?: string
}

/** A value of the file that may be left out. */
export function setting<S extends z.ZodType>(schema: S, given: MetaGiven<z.output<S>>) {
  const { about, fallback, env, say = plainText, unserved } = given
  const carried = env === undefined ? () => ({}) : (value: z.output<S>, dir: string) => ({ [env]: say(value, dir) })
  const { isSaidBy = () => true, fromEnv = (text: string) => text } = given
  const { toEnv = carried, variables = env === undefined ? [] : [env] } = given
  const meta: SettingMeta = {
    about,
    fallback,
    variables,
    isSaidBy,
    fromEnv,
    toEnv: (value, dir) => toEnv(schema.parse(value), dir),
    ...(unserved === undefined ? {} : { unserved }),
  }
  const optional = schema.optional()
  known.set(optional, meta)
  return optional
}

function plainText(value: unknown): string {
  if (Array.isArray(value)) return value.join(',')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export type Setting = SettingMeta & { path: readonly string[] }

/** Every setting of a schema of sections, in its order. */
export function settingsOf(schema: z.core.$ZodType, path: readonly string[] = []): Setting[] {
  const meta = known.get(schema)
  if (meta !== undefined) return [{ ...meta, path }]
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  if (!(inner instanceof z.ZodObject)) return []
  return Object.entries<z.core.$ZodType>(inner.shape).flatMap(([name, value]) => settingsOf(value, [...path, name]))
}
