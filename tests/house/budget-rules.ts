import { findCycles } from './find-cycles.ts'
import type { ParsedSource } from './parse-source.ts'
import { resolveImport } from './resolve-import.ts'

export const maxFileLines = 300
const maxFunctionLines = 50
/** The agent loop is one function on purpose: it is read as a whole. */
const ownBudgets: Record<string, number> = { runAgent: 120 }

/** file → why it casts. Only adapters to a foreign library whose types cannot say what we know. */
export const castingFiles: Record<string, string> = {}

/** What a file does that the budgets of CONTRIBUTING.md do not allow, one sentence each. */
export function budgetViolations(file: ParsedSource): string[] {
  const at = (reason: string) => (line: number) => `${file.path}:${line} ${reason}`
  return [
    ...(file.lines > maxFileLines ? [`${file.path} has ${file.lines} lines, at most ${maxFileLines}`] : []),
    ...longFunctions(file),
    ...file.anyTypes.map(at('says any')),
    ...file.nonNullAssertions.map(at('asserts with !')),
    ...file.silencedErrors.map(at('silences the compiler')),
    ...(file.path in castingFiles ? [] : file.casts.map(at('casts with as'))),
  ]
}

function longFunctions({ path, functions }: ParsedSource): string[] {
  return functions.flatMap(({ name, line, lines }) => {
    const budget = ownBudgets[name] ?? maxFunctionLines
    return lines > budget ? [`${path}:${line} ${name} has ${lines} lines, at most ${budget}`] : []
  })
}

/** Circles of imports, type imports included; a file loaded by URL runs on its own and closes no circle. */
export function importCycles(files: readonly ParsedSource[]): string[][] {
  const graph = new Map<string, string[]>()
  for (const file of files) {
    const edges = file.imports.filter(({ kind }) => kind !== 'url' && kind !== 'computed')
    const targets = edges.map(({ specifier }) => resolveImport(file.path, specifier))
    graph.set(
      file.path,
      targets.flatMap((target) => (target.kind === 'file' ? [target.path] : [])),
    )
  }
  return findCycles(graph)
}

const forbiddenNames = new Set([
  'utils',
  'util',
  'helpers',
  'helper',
  'types',
  'interfaces',
  'index',
  'common',
  'misc',
  'lib',
])
const forbiddenWord = /(?:^|-)(?:manager|helper|util)s?(?:-|$)/
const forbiddenIdentifier = /(?:Manager|Helper|Util|^manager|^helper|^util)s?(?:[A-Z]|$)/

/** Names that say nothing: of a file, of a folder on its path, or of an export. */
export function nameViolations({ path, exportedNames }: Pick<ParsedSource, 'path' | 'exportedNames'>): string[] {
  const words = path.split('/').map((part) => part.replace(/\..*$/, ''))
  const bad = words.filter((word) => forbiddenNames.has(word) || forbiddenWord.test(word))
  const notKebab = words.filter((word) => !/^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(word))
  return [
    ...bad.map((word) => `${path}: "${word}" names no idea`),
    ...notKebab.map((word) => `${path}: "${word}" is not kebab-case`),
    ...exportedNames.filter((name) => forbiddenIdentifier.test(name)).map((name) => `${path} exports ${name}`),
  ]
}
