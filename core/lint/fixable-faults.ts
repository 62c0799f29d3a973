import type { Node } from 'web-tree-sitter'
import type { PathRules } from '#domain/path-rules.ts'
import { importFactsOf, type ImportFact } from '#python/import-facts.ts'
import { importStatementTypes } from '#python/imported-names.ts'
import type { LoadedLanguage } from '#syntax/parser.ts'
import type { Diagnostic } from './lint-report.ts'

export type FaultyFile = { path: string; text: string; ownModules?: readonly string[] | undefined }

export type JudgedFault = {
  fault: Diagnostic
  /** Why what the fix would remove has to stay; also set when there is no safe fix. */
  mustStay: string | undefined
  removes: string | undefined
}

/** Rules whose fix removes white space, which inside a string is part of its value. */
const whiteSpaceRules = new Set(['W291', 'W293'])

const importRules = new Set(['F401', 'F811'])

/**
 * Judges whether the fixes of faults may be made. An import stays when it has an effect, when others may use its name
 * unseen by the linter, or when a comment may be about it; page breaks and white space in strings stay too.
 */
export function judgeFixes(
  diagnostics: readonly Diagnostic[],
  file: FaultyFile,
  python: LoadedLanguage,
): JudgedFault[] {
  const asks = diagnostics.some(({ code }) => importRules.has(code))
  const facts = asks ? python.read(file.text, (tree) => importFactsOf(tree, file.text, file)) : []
  return diagnostics.map((fault) => {
    const removed = importRules.has(fault.code) ? importsAt(fault, facts) : []
    const atTop = removed.find(({ scope }) => scope === '')
    const stays = removed.find((one) => one.stays !== undefined)?.stays ?? commentKept(removed, file, python)
    const mustStay = stays ?? pageBreakKept(fault, file) ?? whiteSpaceKept(fault, file, python)
    return { fault, mustStay, removes: atTop?.name }
  })
}

export function fixableFaults(
  diagnostics: readonly Diagnostic[],
  file: FaultyFile & { keptNames: PathRules['keptNames'] },
  python: LoadedLanguage,
): Diagnostic[] {
  return judgeFixes(diagnostics, file, python)
    .filter(({ mustStay, removes }) => mustStay === undefined && !isKept(removes, file.keptNames))
    .flatMap(({ fault }) => (fault.fix === undefined ? [] : [fault]))
}

export function isKept(name: string | undefined, keptNames: PathRules['keptNames']): boolean {
  return name !== undefined && (keptNames === 'all' || keptNames.includes(name))
}

/** `import a, b  # type: ignore`: the comment may be for either name. */
function commentKept(removed: readonly ImportFact[], { text }: FaultyFile, python: LoadedLanguage): string | undefined {
  const isCommented = removed.some(({ range }) =>
    python.read(text, (tree) => hasCommentFor(tree.rootNode.descendantForIndex(range.start, range.end - 1), text)),
  )
  return isCommented ? 'a comment in its statement may be about it' : undefined
}

/** Whether an import statement has a comment, other than one after another name in its brackets. */
function hasCommentFor(name: Node | null, text: string): boolean {
  let statement = name
  while (statement !== null && !importStatementTypes.includes(statement.type)) statement = statement.parent
  if (name === null || statement === null) return false
  const rest = /^[^\r\n]*/.exec(text.slice(statement.endIndex))?.[0] ?? ''
  if (rest.includes('#')) return true
  const names = statement.childrenForFieldName('name').filter((one) => one !== null)
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
  const isString = python.read(text, (tree) => {
    let node = tree.rootNode.descendantForIndex(start, start)
    while (node !== null && node.type !== 'string') node = node.parent
    return node !== null
  })
  return isString ? 'it is part of a string' : undefined
}

function importsAt({ start, end }: Diagnostic, facts: readonly ImportFact[]): ImportFact[] {
  return facts.filter(({ range }) => range.start < end && start < range.end)
}
