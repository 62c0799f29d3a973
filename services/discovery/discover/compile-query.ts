import { type Language, Query, type QueryProperties } from 'web-tree-sitter'
import { z } from 'zod'
import { AppError } from '#domain/error.ts'

export type QueryFile = { path: string; text: string }

/** What web-tree-sitter's query errors carry (the class itself is not exported): where in the text it stopped. */
const PositionedError = z.object({ index: z.int().min(0) })

export type CompiledQuery = { ok: true; query: Query } | { ok: false; line: number; message: string; cause: unknown }

/** Compiles one `.scm` file, or says where it stops and why. */
export function tryCompile(language: Language, file: QueryFile): CompiledQuery {
  try {
    return { ok: true, query: new Query(language, file.text) }
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    return { ok: false, line: lineAt(file.text, faultIndex(cause, file.text)), message, cause }
  }
}

/** Compiles one `.scm` file. DISC_002 with `file:line` when it does not compile. */
export function compileQueryFile(language: Language, file: QueryFile): Query {
  const compiled = tryCompile(language, file)
  if (compiled.ok) return compiled.query
  const { line, message, cause } = compiled
  throw new AppError('DISC_002', `${file.path}:${line}: ${message}`, { cause, phase: 'discovery' })
}

/** The 1-based line of an index into `text`. */
export function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

/** A malformed predicate carries no position: the first predicate of the file is the nearest that can be said. */
function faultIndex(error: unknown, text: string): number {
  const positioned = PositionedError.safeParse(error)
  return positioned.success ? positioned.data.index : Math.max(0, text.indexOf('(#'))
}

export const insidePrefix = 'inside.'

/** The `(#set! inside.<kind> <other kind>)` properties of a pattern: what its definition is inside one of that kind. */
export function insideRules(properties: QueryProperties): Record<string, string> {
  const rules: Record<string, string> = {}
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith(insidePrefix) && value !== null) rules[key.slice(insidePrefix.length)] = value
  }
  return rules
}

/** The kinds a compiled query can give, in the order they first appear. */
export function kindsOf(query: Query): string[] {
  const captured = query.captureNames.flatMap((name) => (name.endsWith('.def') ? [name.slice(0, -'.def'.length)] : []))
  const settled = query.setProperties.flatMap((properties) => Object.values(insideRules(properties ?? {})))
  return [...new Set([...captured, ...settled])]
}
