import type { z } from 'zod'
import type { YamlPath } from './yaml-source.ts'

export type SchemaFault = { at: YamlPath; message: string; isUnknownKey: boolean }

/** What a schema found, one fault per wrong key, and of a union the alternative that comes nearest. */
export function schemaFaults(error: z.ZodError): SchemaFault[] {
  return error.issues.flatMap(faultsOf)
}

function faultsOf(issue: z.core.$ZodIssue): SchemaFault[] {
  const at = issue.path.filter((key) => typeof key !== 'symbol')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const path = [...at, key]
      return { at: path, message: `unknown key ${path.join('.')}`, isUnknownKey: true }
    })
  }
  if (issue.code === 'invalid_union' && issue.errors.length > 0) {
    const nearest = issue.errors.reduce((least, other) => (other.length < least.length ? other : least))
    return nearest.flatMap((inner) => faultsOf({ ...inner, path: [...issue.path, ...inner.path] }))
  }
  return [{ at, message: issue.message, isUnknownKey: false }]
}
