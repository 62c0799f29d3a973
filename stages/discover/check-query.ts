import { CaptureQuantifier, type Language, type Query } from 'web-tree-sitter'
import type { ErrorCode } from '#domain/error.ts'
import { isPatternRule, patternLine, patternRules, type QueryFile, tryCompile } from './compile-query.ts'

export type PackFault = {
  code: ErrorCode
  fault:
    | 'missing_folder'
    | 'empty_folder'
    | 'unknown_language'
    | 'unreadable_file'
    | 'empty_file'
    | 'does_not_compile'
    | 'duplicate_capture'
    | 'invalid_capture_name'
    | 'missing_capture'
    | 'unsupported_predicate'
    | 'hash_mismatch'
  file: string
  line: number
  message: string
}

const code = 'DISC_002' as const

const capturesThatExist =
  'a capture is @<kind>.def, @<kind>.name, @<kind>.name_end, @<kind>.owner, @lead, or begins with an underscore'
const predicatesThatExist = '#eq?, #match?, #any-of?, their #not- and #any- forms, and #set!'

/**
 * The parts of a definition, `@<kind>.def` …; `@lead`, what belongs to the definition after it; names with a leading
 * underscore serve predicates and make no node.
 */
const captureName = /^(?:[a-z][a-z0-9_]*\.(?:def|name|name_end|owner)|lead|_[a-z0-9_.]*)$/

/** Lists everything wrong with one `.scm` file. Lines are those of the faulty pattern, or those of the compiler's message. */
export function checkQueryFile(language: Language, file: QueryFile): PackFault[] {
  const compiled = tryCompile(language, file)
  if (!compiled.ok) {
    return [{ code, fault: 'does_not_compile', file: file.path, line: compiled.line, message: compiled.message }]
  }
  const { query } = compiled
  try {
    const patterns = query.patternCount()
    if (patterns === 0) return [{ code, fault: 'empty_file', file: file.path, line: 1, message: 'no pattern in it' }]
    return Array.from({ length: patterns }, (_, pattern) => checkPattern(query, pattern, file)).flat()
  } finally {
    query.delete()
  }
}

function checkPattern(query: Query, pattern: number, file: QueryFile): PackFault[] {
  const at = { code, file: file.path, line: patternLine(file, query, pattern) }
  const captures = capturesOf(query, pattern)
  const names = captures.map((capture) => capture.name)
  const missing = missingCaptures(query, pattern, names)
  const unsupported = unsupportedPredicates(query, pattern)
  return [
    ...captures.flatMap(({ name, many }): PackFault[] | PackFault => {
      if (!captureName.test(name))
        return { ...at, fault: 'invalid_capture_name', message: `@${name}: ${capturesThatExist}` }
      return many ? { ...at, fault: 'duplicate_capture', message: `@${name} can be captured more than once` } : []
    }),
    ...missing.map((message) => ({ ...at, fault: 'missing_capture', message }) as const),
    ...unsupported.map((message) => ({ ...at, fault: 'unsupported_predicate', message }) as const),
  ]
}

function capturesOf(query: Query, pattern: number): { name: string; many: boolean }[] {
  const quantifiers = query.captureQuantifiers[pattern] ?? []
  return query.captureNames.flatMap((name, index) => {
    const quantifier = quantifiers[index] ?? CaptureQuantifier.Zero
    const many = quantifier === CaptureQuantifier.OneOrMore || quantifier === CaptureQuantifier.ZeroOrMore
    return quantifier === CaptureQuantifier.Zero ? [] : [{ name, many: many && !name.startsWith('_') }]
  })
}

/** Says what a pattern lacks to be a lead or one node: one `.def`, and of the same kind a `.name` or the rule that names it. */
function missingCaptures(query: Query, pattern: number, names: readonly string[]): string[] {
  const kinds = names.flatMap((name) => (name.endsWith('.def') ? [name.slice(0, -'.def'.length)] : []))
  const [kind] = kinds
  const made = names.filter((name) => !name.startsWith('_'))
  if (made.length === 1 && made[0] === 'lead') return []
  if (kind === undefined) return ['the pattern has no @<kind>.def']
  if (kinds.length > 1) return [`the pattern has more than one definition: ${kinds.join(', ')}`]
  const strange = made.find((name) => captureName.test(name) && !name.startsWith(`${kind}.`))
  if (strange !== undefined) return [`@${strange} is of another kind than @${kind}.def`]
  const { name } = patternRules(query.setProperties[pattern] ?? {})
  if (names.includes(`${kind}.name`) || name !== undefined) return []
  return [`the pattern has @${kind}.def but no @${kind}.name, and no (#set! name "…")`]
}

const rulesThatExist =
  'what can be set is `inside.<kind> <kind>`, `separator "…"`, `name "…"`, `strip "<regular expression>"` and `level 1` to 9'

function unsupportedPredicates(query: Query, pattern: number): string[] {
  const properties = Object.entries(query.setProperties[pattern] ?? {})
  const foreign = properties.filter(([key, value]) => !isPatternRule(key, value))
  const unserved = [
    ...Object.keys(query.assertedProperties[pattern] ?? {}).map((key) => `is? ${key}`),
    ...Object.keys(query.refutedProperties[pattern] ?? {}).map((key) => `is-not? ${key}`),
  ]
  const explain = (predicate: string) => `#${predicate}: what is served is ${predicatesThatExist}`
  return [
    ...query.predicatesForPattern(pattern).map(({ operator }) => explain(operator)),
    ...foreign.map(([key, value]) => `#set! ${key} ${value ?? ''}: ${rulesThatExist}`),
    ...unserved.map(explain),
  ]
}
