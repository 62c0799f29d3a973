import { isUtf8 } from 'node:buffer'
import type { Query, QueryMatch, Tree } from 'web-tree-sitter'
import { sha256 } from '#domain/ids.ts'
import { spacedLastCommas } from '#platform/json-with-comments.ts'
import { factNodesIn, factPatterns, factQuery } from '#languages/python/fact-nodes.ts'
import { type RepositoryFacts, repositoryFactsOf } from '#languages/python/repository-facts.ts'
import { type LoadedLanguage, loadLanguage } from '#languages/syntax/parser.ts'
import { compileQueryFiles, type PatternRules, patternRules } from './compile-query.ts'
import { findReferences, type FoundReference, placeReferences } from './edges/find-references.ts'
import { type Definition, findDefinitions, nestDefinitions } from './find-definitions.ts'
import type { IndexedNode, ReadIndex } from './node-index.ts'
import type { QueryPack } from './query-pack.ts'
import { lineFinder, readSourceText } from './source-text.ts'

/** Is a query pack ready to run in this thread: one query, so that a tree is walked once. */
export type NodeQuery = {
  name: string
  language: LoadedLanguage
  query: Query
  /** Lists the rules of the patterns that make nodes, which come first; those behind them match references. */
  rules: readonly PatternRules[]
  findsReferences: boolean
  /** Is the first of the patterns that find facts, which come last; absent where none are looked for. */
  firstFact: number | undefined
}

/** Loads the grammar and compiles the pack. DISC_002 names file and line; DISC_003 the language. */
export async function compileNodeQuery({ language: name, files, references, facts }: QueryPack): Promise<NodeQuery> {
  const language = await loadLanguage(name)
  const definitions = compileQueryFiles(language.language, files)
  const rules = Array.from({ length: definitions.patternCount() }, (_, at) =>
    patternRules(definitions.setProperties[at] ?? {}),
  )
  const made = { name, language, rules, findsReferences: references !== undefined, firstFact: undefined }
  if (references === undefined && facts === undefined) return { ...made, query: definitions }
  definitions.delete()
  const finding = [...files, ...(references === undefined ? [] : [references])]
  if (facts === undefined) return { ...made, query: compileQueryFiles(language.language, finding) }
  const query = compileQueryFiles(language.language, [...finding, { path: 'the query for facts', text: factQuery }])
  return { ...made, query, firstFact: query.patternCount() - factPatterns }
}

/** Finds the nodes of one blob, the file first, then in source order; only the file without a query. */
export function indexNodes(bytes: Uint8Array, query: NodeQuery | undefined): ReadIndex {
  const source = readSourceText(bytes)
  const { definitions, errorLine, references, facts } =
    query === undefined ? nothingFound : findInText(source.text, query)
  const { nested, broken } = nestDefinitions(definitions)
  // An error outside all definitions may hide definitions that cannot be named.
  if (broken.length === 0 && errorLine !== undefined) broken.push(`near line ${errorLine}`)
  const indices: number[] = []
  for (const { start, end } of nested) indices.push(start, end)
  const offsets = source.byteOffsets(indices)
  const lineOf = lineFinder(bytes)
  const nodes = [fileNode(bytes, lineOf)]
  // Written out, since there may be a million: copies by rest and spread take ten times as long.
  for (const [index, { kind, name, qualifiedName, ordinal, parent }] of nested.entries()) {
    const startByte = offsets[2 * index] ?? 0
    const endByte = offsets[2 * index + 1] ?? 0
    nodes.push({
      kind,
      name,
      qualifiedName,
      ordinal,
      parent: parent === null ? 0 : parent + 1,
      startLine: lineOf(startByte),
      endLine: lineOf(Math.max(startByte, endByte - 1)),
      startByte,
      endByte,
      hash: sha256(bytes.subarray(startByte, endByte)),
    })
  }
  // The offsets of facts are those of UTF-8.
  const own = isUtf8(bytes) ? facts : undefined
  return {
    nodes,
    broken,
    ...(references && { references: placeReferences(references, nested) }),
    ...(own && { facts: own }),
  }
}

type Found = {
  definitions: Definition[]
  errorLine: number | undefined
  references?: FoundReference[]
  facts?: RepositoryFacts
}
const nothingFound: Found = { definitions: [], errorLine: undefined }

function findInText(text: string, { name, language, query, rules, findsReferences, firstFact }: NodeQuery): Found {
  const tree = name === 'json' ? parseSettings(text, language) : language.parse(text)
  try {
    const defining: QueryMatch[] = []
    const referring: QueryMatch[] = []
    const factual: QueryMatch[] = []
    for (const match of query.matches(tree.rootNode)) {
      if (match.patternIndex < rules.length) defining.push(match)
      else if (match.patternIndex < (firstFact ?? Infinity)) referring.push(match)
      else factual.push(match)
    }
    const definitions = findDefinitions(tree, defining, text, rules)
    const errorLine = firstErrorLine(tree)
    return {
      definitions,
      errorLine,
      ...(findsReferences && { references: findReferences(referring, text) }),
      ...(firstFact !== undefined && { facts: repositoryFactsOf(tree, text, factNodesIn(factual)) }),
    }
  } finally {
    tree.delete()
  }
}

/** The grammar takes comments, as TypeScript and others do in their settings, but not a comma before a closing bracket. */
function parseSettings(text: string, language: LoadedLanguage): Tree {
  const tree = language.parse(text)
  if (!tree.rootNode.hasError) return tree
  tree.delete()
  return language.parse(spacedLastCommas(text))
}

function fileNode(bytes: Uint8Array, lineOf: (offset: number) => number): IndexedNode {
  const names = { kind: 'file', name: '', qualifiedName: '', ordinal: 0, parent: null }
  const endLine = lineOf(Math.max(0, bytes.length - 1))
  return { ...names, startLine: 1, endLine, startByte: 0, endByte: bytes.length, hash: sha256(bytes) }
}

function firstErrorLine(tree: Tree): number | undefined {
  if (!tree.rootNode.hasError) return undefined
  const cursor = tree.walk()
  try {
    for (;;) {
      const { isError, isMissing, hasError, startPosition } = cursor.currentNode
      if (isError || isMissing) return startPosition.row + 1
      const moved = hasError ? cursor.gotoFirstChild() : cursor.gotoNextSibling()
      if (!moved) return undefined
    }
  } finally {
    cursor.delete()
  }
}
