import type { Node, Tree } from 'web-tree-sitter'
import type { Linted } from './lint-before-after.ts'
import { foreignEncoding, isEncodedOtherwise, misencodedCharacters } from '#languages/python/python-file.ts'
import type { CheckResult } from './python-facts.ts'

/** Finds a Python file with more syntax errors than before, or whose characters its declared encoding reads otherwise: there, a comment may be code. */
export function parsesAsBefore(before: Linted, after: Linted): CheckResult {
  const declared = foreignEncoding(after.text)
  const isNew = declared !== undefined && declared !== foreignEncoding(before.text)
  const isWorseRead = misencodedCharacters(after.text) > misencodedCharacters(before.text)
  if (isNew || isWorseRead || isEncodedOtherwise(after.text)) {
    return { fault: 'it declares another encoding than the UTF-8 it is written in' }
  }
  const figures = { before: before.report.syntaxErrors.length, after: after.report.syntaxErrors.length }
  const first = after.report.syntaxErrors[0]
  const isWorse = figures.after > figures.before && first !== undefined
  return { ...figures, fault: isWorse ? `line ${first.line}: ${first.message}` : undefined }
}

/** Lists what does not parse: types of stray tokens, since names may change within a region that a grammar cannot parse. */
export type SyntaxFaults = { places: number; tokens: string[]; first: { line: number; words: string } | undefined }

/** Reads the faults of a tree. A token is stray when its parent is an ERROR node: valid parts of a broken region may change. */
export function syntaxFaultsOf(tree: Tree): SyntaxFaults {
  const faults: SyntaxFaults = { places: 0, tokens: [], first: undefined }
  const nodes = [tree.rootNode]
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    if (!node.hasError && !node.isError && !node.isMissing) continue
    if (node.isError || node.isMissing) note(node, faults)
    for (const child of childrenOf(node).toReversed()) nodes.push(child)
  }
  return faults
}

export function hasNewFault(before: SyntaxFaults, after: SyntaxFaults): boolean {
  if (after.places > before.places) return true
  const left = Map.groupBy(before.tokens, (token) => token)
  return after.tokens.some((token) => left.get(token)?.pop() === undefined)
}

function note(node: Node, faults: SyntaxFaults): void {
  faults.places += 1
  const stray = node.isMissing ? [] : strayTokens(node)
  if (node.isMissing) faults.tokens.push(`missing ${node.type}`)
  for (const { type } of stray) faults.tokens.push(type)
  const words = node.isMissing ? `${node.type} is missing` : `unexpected ${shown(stray.map(({ text }) => text))}`
  faults.first ??= { line: node.startPosition.row + 1, words }
}

function strayTokens(error: Node): Node[] {
  const children = childrenOf(error)
  if (children.length === 0) return [error]
  return children.filter((child) => child.childCount === 0 && !child.isExtra && !child.isError)
}

function shown(tokens: readonly string[]): string {
  return tokens.length === 0 ? 'text' : JSON.stringify(tokens.slice(0, 5).join(' ').slice(0, 40))
}

function childrenOf(node: Node): Node[] {
  return node.children.filter((child) => child !== null)
}
