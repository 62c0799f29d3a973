import { ScriptError } from '#tool-scripts/script-call.ts'

/** A string argument of an external; anything else raises TypeError in the script. */
export function text(value: unknown, name: string): string {
  if (typeof value === 'string') return value
  throw new ScriptError('TypeError', `${name} must be a string`)
}

/** An integer argument, or undefined when it was left out or None. */
export function optionalInteger(value: unknown, name: string): number | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  throw new ScriptError('TypeError', `${name} must be an integer`)
}

/** A truth value, or undefined when it was left out or None. */
export function optionalTruth(value: unknown, name: string): boolean | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'boolean') return value
  throw new ScriptError('TypeError', `${name} must be True or False`)
}

export function textList(value: unknown, name: string): string[] {
  if (Array.isArray(value)) return value.map((item) => text(item, `each of ${name}`))
  throw new ScriptError('TypeError', `${name} must be a list`)
}

/** The values of a dict, by key. */
export function textsByKey(value: unknown, name: string): Map<string, string> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ScriptError('TypeError', `${name} must be a dict`)
  return new Map(Object.entries(value).map(([key, item]) => [key, text(item, `each value of ${name}`)]))
}
