import type { Node } from 'web-tree-sitter'
import type { PathRules } from '#domain/path-rules.ts'
import { importFactsOf, type ImportFact, type ImportedHere, importsIn, isLoadedForEffect } from '../import-facts.ts'
import { importStatementTypes } from '../imported-names.ts'
import { nodeAround } from '../python-nodes.ts'
import { isOffered, listsItsNames } from '../public-modules.ts'
import type { LoadedLanguage } from '../../syntax/parser.ts'
import { keepsEvaluations } from './kept-evaluations.ts'
import type { Diagnostic } from '../../lint/lint-report.ts'
import { isDeepStrictEqual } from 'node:util'
import { isStandardModule } from '../standard-modules.ts'
import { withEdits } from '../../lint/text-edit.ts'

export type FaultyFile = { path: string; text: string; ownModules?: readonly string[] | undefined }

export type JudgedFault = {
  fault: Diagnostic
  /** Says why what the fix would remove has to stay; also set when there is no safe fix. */
  mustStay: string | undefined
  removes: readonly string[]
  /** Lists those of `removes` that others may import if the module is public. */
  offers: readonly string[]
}

/** Rules whose fix removes white space, which inside a string is part of its value. */
const whiteSpaceRules = new Set(['W291', 'W293'])

const importRules = new Set(['F401', 'F811'])

/**
 * Judges whether the fixes of faults may be made. An import stays when it has an effect, when others may use its name unseen, or when a
 * comment may be about it; page breaks and white space in strings stay too. A fix that may change what is evaluated, or that mends half
 * of what is wrong, is withheld.
 */
export function judgeFixes(reported: readonly Diagnostic[], file: FaultyFile, python: LoadedLanguage): JudgedFault[] {
  const isHalf = halfFixes(reported, file, python)
  const isSafe = (fault: Diagnostic) =>
    fault.fix === undefined ||
    (!isHalf(fault) && keepsEvaluations(fault, file.text, python) && keepsImports(fault, file, python))
  const diagnostics = reported.map((fault): Diagnostic =>
    isSafe(fault) ? fault : { ...fault, fix: undefined, withheld: 'ours' },
  )
  const removalOf = removedImports(diagnostics, file, python)
  return diagnostics.map((fault) => {
    const removal = removalOf(fault)
    const mustStay = removal.mustStay ?? pageBreakKept(fault, file) ?? whiteSpaceKept(fault, file, python)
    return { ...removal, fault, mustStay }
  })
}

export function fixableFaults(
  diagnostics: readonly Diagnostic[],
  file: FaultyFile & { keptNames: PathRules['keptNames'] },
  python: LoadedLanguage,
): Diagnostic[] {
  return judgeFixes(diagnostics, file, python)
    .filter(({ mustStay, removes }) => mustStay === undefined && keptOf(removes, file.keptNames) === undefined)
    .flatMap(({ fault }) => (fault.fix === undefined ? [] : [fault]))
}

export function keptOf(names: readonly string[], keptNames: PathRules['keptNames']): string | undefined {
  return names.find((name) => keptNames === 'all' || keptNames.includes(name))
}

/**
 * Finds the unused names of exceptions whose function has another unused variable. The value of that one may be computed for
 * its effect, so both stay for a person.
 */
function halfFixes(diagnostics: readonly Diagnostic[], { text }: FaultyFile, python: LoadedLanguage) {
  const unused = diagnostics.filter(({ code }) => code === 'F841')
  const isMixed = unused.some(({ fix }) => fix === undefined) && unused.some(({ fix }) => fix !== undefined)
  if (!isMixed) return () => false
  const functions = python.read(text, ({ rootNode }) =>
    unused.map(({ start }) => {
      return nodeAround(rootNode.descendantForIndex(start, start), ['function_definition'])?.startIndex
    }),
  )
  const unmended = new Set(functions.filter((_, at) => unused[at]?.fix === undefined))
  return (fault: Diagnostic) => unused.includes(fault) && unmended.has(functions[unused.indexOf(fault)])
}

/** Keeps `import a, b  # type: ignore`: the comment may be for either name. */
function commentKept(removed: readonly ImportFact[], { text }: FaultyFile, python: LoadedLanguage): string | undefined {
  const isCommented = python.read(text, ({ rootNode }) =>
    removed.some(({ range }) => hasCommentFor(rootNode.descendantForIndex(range.start, range.end - 1), text)),
  )
  return isCommented ? 'a comment in its statement may be about it' : undefined
}

/** Is true when an import statement has a comment, other than one after another name in its brackets. */
function hasCommentFor(name: Node | null, text: string): boolean {
  const statement = nodeAround(name, importStatementTypes)
  if (name === null || statement === undefined) return false
  const rest = /^[^\r\n]*/.exec(text.slice(statement.endIndex))?.[0] ?? ''
  if (rest.includes('#')) return true
  const names = statement.childrenForFieldName('name')
  const isBehind = (row: number) => names.some(({ endPosition }) => endPosition.row === row)
  return statement
    .descendantsOfType('comment')
    .some(({ startPosition: { row } }) => row === name.endPosition.row || !isBehind(row))
}

function pageBreakKept({ fix }: Diagnostic, { text }: FaultyFile): string | undefined {
  const isTaken = fix?.some((edit) => text.slice(edit.start, edit.end).includes('\f') && !edit.text.includes('\f'))
  return isTaken === true ? 'a page break would go with it' : undefined
}

function whiteSpaceKept({ code, start }: Diagnostic, { text }: FaultyFile, python: LoadedLanguage): string | undefined {
  if (!whiteSpaceRules.has(code)) return undefined
  const string = python.read(text, ({ rootNode }) => nodeAround(rootNode.descendantForIndex(start, start), ['string']))
  return string && 'it is part of a string'
}

type Removal = Pick<JudgedFault, 'mustStay' | 'removes' | 'offers'>

const nothingRemoved: Removal = { mustStay: undefined, removes: [], offers: [] }

/**
 * Finds the imports that the fix of a fault removes, and why they must stay. The unused names of one statement have one fix,
 * which removes all of them. An import that F811 removes is a second one of its name, so the module still has the name.
 */
function removedImports(diagnostics: readonly Diagnostic[], file: FaultyFile, python: LoadedLanguage) {
  const removals = new Map<string, Removal>()
  const faults = diagnostics.filter(({ code }) => importRules.has(code))
  if (faults.length > 0) {
    const { facts, isListed } = python.read(file.text, (tree) => ({
      facts: importFactsOf(tree, file.text, file),
      isListed: listsItsNames(tree),
    }))
    for (const [fix, together] of Map.groupBy(faults, fixKey)) {
      const removed = together.flatMap((fault) => importsAt(fault, facts))
      const mustStay = removed.find(({ stays }) => stays !== undefined)?.stays ?? commentKept(removed, file, python)
      const lost = together[0]?.code === 'F401' ? removed.filter(({ scope }) => scope === '') : []
      const offered = isListed ? [] : lost.filter(isOffered)
      removals.set(fix, { mustStay, removes: lost.map(nameOf), offers: offered.map(nameOf) })
    }
  }
  return (fault: Diagnostic): Removal => removals.get(fixKey(fault)) ?? nothingRemoved
}

function importsAt({ start, end }: Diagnostic, facts: readonly ImportFact[]): ImportFact[] {
  return facts.filter(({ range }) => range.start < end && start < range.end)
}

const nameOf = ({ name }: ImportFact) => name

function fixKey({ code, fix, start }: Diagnostic): string {
  return JSON.stringify([code, fix ?? start])
}

const movingRules: ReadonlySet<string> = new Set(['F811', 'I001', 'PLR0402'])

/**
 * Tells whether a fix that moves or rewrites imports loads the same modules, in the same order where that may matter, and binds the
 * same to each name. The repository's own modules keep their order, since one may need what another has done; so do all but
 * the standard library where one is loaded for its effect.
 */
function keepsImports(
  { code, fix = [] }: Pick<Diagnostic, 'code' | 'fix'>,
  { path, text, ownModules }: { path: string; text: string; ownModules?: readonly string[] | undefined },
  python: LoadedLanguage,
): boolean {
  if (!movingRules.has(code)) return true
  const before = python.read(text, importsIn)
  const changed = before.filter(({ range }) => fix.some(({ start, end }) => range.start < end && start < range.end))
  // `import a.b as b` loads the module a.b; `from a import b` takes whatever a calls b.
  if (code === 'PLR0402') return changed.every(({ module }) => isStandardModule(module))
  // A function imports when it is called, and gets what the module has then.
  if (code === 'F811') return changed.every(({ scope }) => scope === '')
  const after = python.read(withEdits(text, fix), importsIn)
  const own = ownModules ?? path.split('/')
  const hasEffect = before.some((here) => isForEffect(here, text, own))
  const loadsOf = (imports: readonly ImportedHere[]) => loadedIn(imports, own, { ownOnly: !hasEffect })
  return (
    isDeepStrictEqual(loadsOf(before), loadsOf(after)) && isDeepStrictEqual(rebindingsIn(before), rebindingsIn(after))
  )
}

/** Is true for a module that is known to be loaded for its effect, or is the repository's own and never used by its name. */
function isForEffect({ module, imported, name }: ImportedHere, text: string, own: readonly string[]): boolean {
  if (isLoadedForEffect(module)) return true
  if (imported !== undefined || !isOwn(module, own)) return false
  return [...text.matchAll(new RegExp(`(?<![\\w.])${name.replaceAll(/\W/g, '')}(?!\\w)`, 'gu'))].length < 2
}

function isOwn(module: string, own: readonly string[]): boolean {
  return module.startsWith('.') || own.includes(module.split('.')[0] ?? module)
}

/** Lists what the imports load, in order: the repository's own modules, and unless `ownOnly` all others but the standard library's. */
function loadedIn(
  imports: readonly ImportedHere[],
  own: readonly string[],
  { ownOnly }: { ownOnly: boolean },
): string[] {
  const loads = new Set<string>()
  for (const { module, imported, scope } of imports) {
    if (!isOwn(module, own) && (ownOnly || isStandardModule(module))) continue
    loads.add(`${scope} ${module}`)
    const isModule = imported !== undefined && (own.includes(`.${imported}`) || /^\.+$/.test(module))
    if (isModule) loads.add(`${scope} ${module} ${imported}`)
  }
  return [...loads]
}

/** Lists the imports of which the last one counts: of names that several bind, and all where one imports everything. */
function rebindingsIn(imports: readonly ImportedHere[]): string[] {
  const takesAll = imports.some(({ name }) => name === '*')
  const binders = Map.groupBy(imports, ({ scope, name }) => `${scope} ${name}`)
  return imports
    .filter(({ scope, name }) => takesAll || (binders.get(`${scope} ${name}`)?.length ?? 0) > 1)
    .map(({ scope, name, module, imported = '' }) => `${scope} ${name} ${module} ${imported}`)
}
