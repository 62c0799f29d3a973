import { type Language, Query, type QueryProperties } from 'web-tree-sitter'
import { z } from 'zod'
import { NodeKind } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'

export type QueryFile = { path: string; text: string }

/** Parses what web-tree-sitter's query errors carry (the class itself is not exported): the index in the text where it stopped. */
const PositionedError = z.object({ index: z.int().min(0) })

type CompiledQuery = { ok: true; query: Query } | { ok: false; line: number; message: string; cause: unknown }

export function tryCompile(language: Language, file: QueryFile): CompiledQuery {
  try {
    return { ok: true, query: new Query(language, file.text) }
  } catch (cause) {
    return { ok: false, ...describeFault(language, file.text, cause), cause }
  }
}

/** Compiles one `.scm` file. DISC_002 with `file:line` when it does not compile. */
export function compileQueryFile(language: Language, file: QueryFile): Query {
  const compiled = tryCompile(language, file)
  if (compiled.ok) return compiled.query
  const { line, message, cause } = compiled
  throw new AppError('DISC_002', `${file.path}:${line}: ${message}`, { cause, phase: 'discovery' })
}

/** Compiles the files of a pack into one query, its patterns in their order. DISC_002 names the file and the line. */
export function compileQueryFiles(language: Language, files: readonly QueryFile[]): Query {
  const whole = tryCompile(language, { path: '', text: files.map(({ text }) => text).join('\n') })
  if (whole.ok) return whole.query
  for (const file of files) compileQueryFile(language, file).delete()
  const message = `the files of the pack do not compile together: ${whole.message}`
  throw new AppError('DISC_002', message, { phase: 'discovery' })
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length
}

export function patternLine({ text }: QueryFile, query: Query, pattern: number): number {
  return Buffer.from(text).subarray(0, query.startIndexForPattern(pattern)).toString().split('\n').length
}

function describeFault(language: Language, text: string, error: unknown): { line: number; message: string } {
  const { closed, open } = queryBrackets(text)
  const message = error instanceof Error ? error.message : String(error)
  const index = PositionedError.safeParse(error).data?.index
  if (index === undefined) return { line: lineAt(text, faultyPredicate(language, text, closed)), message }
  const [unclosed] = open
  if (unclosed !== undefined && index >= text.trimEnd().length) {
    return { line: lineAt(text, unclosed), message: `a "${text[unclosed]}" of this line is never closed` }
  }
  const advice = /^Bad (?:node|field) name/.test(message) ? '; "remora queries tree FILE" tells the names' : ''
  return { line: lineAt(text, index), message: `${message}${advice}` }
}

/** A malformed predicate carries no position: it is the first that is refused without all others, else the first of all. */
function faultyPredicate(language: Language, text: string, closed: ReadonlyMap<number, number>): number {
  const predicates = [...closed]
    .filter(([start]) => text[start + 1] === '#')
    .toSorted(([left], [right]) => left - right)
  for (const [start] of predicates) {
    let alone = text
    for (const [other, end] of predicates) {
      if (other !== start) alone = `${alone.slice(0, other)}${' '.repeat(end - other)}${alone.slice(end)}`
    }
    try {
      new Query(language, alone).delete()
    } catch {
      return start
    }
  }
  return predicates[0]?.[0] ?? 0
}

const insidePrefix = 'inside.'

export type PatternRules = {
  /** `inside.<kind> <other kind>`: the kind of a definition whose nearest enclosing definition is of `<kind>`. */
  inside: Readonly<Record<string, string>>
  /** `separator "::"`: joins the enclosing qualified name and the name; default: a dot. */
  separator: string
  /** `name "default"`: the name of a definition without a name of its own. */
  name: string | undefined
  /** `strip "#+$"`: a regular expression; its matches are removed from the name: quotes, closing marks. */
  strip: RegExp | undefined
  /** `level 2`: the definition is a heading and extends to the next one of its kind with the same or a smaller level. */
  level: number | undefined
}

/** Reads the rules of one pattern. The checker reports keys that are no rule. */
export function patternRules(properties: QueryProperties): PatternRules {
  const inside: Record<string, string> = {}
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith(insidePrefix) && value !== null) inside[key.slice(insidePrefix.length)] = value
  }
  const { separator, name, strip, level } = properties
  return {
    inside,
    separator: separator ?? '.',
    name: name ?? undefined,
    strip: typeof strip === 'string' ? tryRegExp(strip) : undefined,
    level: typeof level === 'string' ? Number(level) : undefined,
  }
}

function tryRegExp(source: string): RegExp | undefined {
  try {
    return new RegExp(source, 'gu')
  } catch {
    return undefined
  }
}

/** Is true when a property is a rule with a valid value (see `PatternRules`). */
export function isPatternRule(key: string, value: string | null): boolean {
  if (value === null || value === '') return false
  if (key === 'separator' || key === 'name') return true
  if (key === 'strip') return tryRegExp(value) !== undefined
  if (key === 'level') return /^[1-9]$/.test(value)
  const outer = key.startsWith(insidePrefix) ? key.slice(insidePrefix.length) : ''
  return NodeKind.safeParse(outer).success && NodeKind.safeParse(value).success
}

export function kindsOf(query: Query): string[] {
  const captured = query.captureNames.flatMap((name) => (name.endsWith('.def') ? [name.slice(0, -'.def'.length)] : []))
  const settled = query.setProperties.flatMap((properties) => Object.values(patternRules(properties ?? {}).inside))
  return [...new Set([...captured, ...settled])]
}

const part = /"(?:[^"\\]|\\.)*"?|;[^\n]*|[([\])]/gs

/** Finds the brackets of a query's text; those in strings and comments are none. */
function queryBrackets(text: string) {
  /** Index of each `(` or `[` → index after its closing bracket. */
  const closed = new Map<number, number>()
  const open: number[] = []
  for (const { 0: token, index } of text.matchAll(part)) {
    if (token === '(' || token === '[') open.push(index)
    else if (token === ')' || token === ']') {
      const start = open.pop()
      if (start !== undefined) closed.set(start, index + 1)
    }
  }
  return { closed, open }
}
