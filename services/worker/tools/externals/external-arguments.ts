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
