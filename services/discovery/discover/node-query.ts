import type { Node, Query, QueryMatch } from 'web-tree-sitter'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/hash.ts'
import { type LoadedLanguage, loadLanguage } from '#syntax/parser.ts'
import { compileQueryFile, patternRules, type PatternRules, type QueryFile } from './compile-query.ts'
import { type FoundReference, findReferences } from './edges/find-references.ts'
import { placeReferences } from './edges/place-references.ts'
import { type Definition, nestDefinitions } from './definition-tree.ts'
import { codeNodesOf, type IndexedNode, type ReadIndex } from './node-index.ts'
import type { QueryPack } from './query-pack.ts'
import { lineFinder, readSourceText } from './source-text.ts'

/** A query pack ready to run in this thread. */
export type NodeQuery = { language: LoadedLanguage; queries: readonly Query[]; references: Query | undefined }

/** Loads the grammar and compiles every file of the pack. DISC_002 names file and line; DISC_003 the language. */
export async function compileNodeQuery(pack: QueryPack): Promise<NodeQuery> {
  const language = await loadLanguage(pack.language)
  const compile = (file: QueryFile) => compileQueryFile(language.language, file)
  return { language, queries: pack.files.map(compile), references: pack.references && compile(pack.references) }
}

/** All nodes of one file, the file itself first. Source that does not parse still gives what does. */
export function nodesOfFile(file: { path: string; bytes: Uint8Array; language: string; query: NodeQuery }): CodeNode[] {
  return codeNodesOf(file.path, file.language, indexNodes(file.bytes, file.query).nodes)
}

/** The nodes of one blob, the file first, then in source order; only the file without a query. */
export function indexNodes(bytes: Uint8Array, query: NodeQuery | undefined): ReadIndex {
  const source = readSourceText(bytes)
  const { whole, broken, references } = query === undefined ? nothingFound : findDefinitions(source.text, query)
  const nested = nestDefinitions(whole)
  const offsets = source.byteOffsets(nested.flatMap(({ start, end }) => [start, end]))
  const lineOf = lineFinder(bytes)
  const nodes = [fileNode(bytes, lineOf)]
  for (const [index, { start: _start, end: _end, parent, ...node }] of nested.entries()) {
    const startByte = offsets[2 * index] ?? 0
    const endByte = offsets[2 * index + 1] ?? 0
    nodes.push({
      ...node,
      parent: parent === null ? 0 : parent + 1,
      startLine: lineOf(startByte),
      endLine: lineOf(Math.max(startByte, endByte - 1)),
      startByte,
      endByte,
      hash: sha256(bytes.subarray(startByte, endByte)),
    })
  }
  return references === undefined
    ? { nodes, broken }
    : { nodes, broken, references: placeReferences(references, nested) }
}

type Found = { whole: Definition[]; broken: string[]; references?: FoundReference[] }
const nothingFound: Found = { whole: [], broken: [] }

function fileNode(bytes: Uint8Array, lineOf: (offset: number) => number): IndexedNode {
  const names = { kind: 'file', name: '', qualifiedName: '', ordinal: 0, parent: null }
  const endLine = lineOf(Math.max(0, bytes.length - 1))
  return { ...names, startLine: 1, endLine, startByte: 0, endByte: bytes.length, hash: sha256(bytes) }
}

/**
 * Every definition the queries match. Matches that meet on one name node are one definition: the wider range counts
 * (a decorated function), and at equal ranges the pattern that comes first in the pack.
 */
function findDefinitions(text: string, { language, queries, references }: NodeQuery): Found {
  const tree = language.parse(text)
  try {
    const byName = new Map<number, MatchedDefinition>()
    const leads = new Set<number>()
    for (const query of queries) {
      const matches = query.matches(tree.rootNode).toSorted((a, b) => a.patternIndex - b.patternIndex)
      for (const lead of matches.flatMap(leadOf)) leads.add(lead.id)
      for (const matched of matches.flatMap(partsOf)) {
        const key = (matched.name ?? matched.def).id
        const known = byName.get(key)
        if (known === undefined || widthOf(matched.def) > widthOf(known.def)) byName.set(key, matched)
      }
    }
    const found = [...byName.values()]
    const broken = found.filter((one) => isBroken(one, found))
    const whole = broken.length === 0 ? found : found.filter((one) => !broken.includes(one))
    const definitions = { whole: whole.map((one) => definitionOf(one, leads)), broken: broken.map(nameOf) }
    return references === undefined
      ? definitions
      : { ...definitions, references: findReferences(tree, text, references) }
  } finally {
    tree.delete()
  }
}

/** A definition without a name node is named by its rule. */
type MatchedDefinition = {
  kind: string
  def: Node
  name: Node | undefined
  nameEnd: Node | undefined
  owner: Node | undefined
  rules: PatternRules
}

function partsOf({ captures, setProperties }: QueryMatch): MatchedDefinition[] {
  const def = captures.find((capture) => capture.name.endsWith('.def'))
  const kind = def?.name.slice(0, -'.def'.length)
  if (def === undefined || kind === undefined) return []
  const part = (name: string) => captures.find((capture) => capture.name === `${kind}.${name}`)?.node
  const rules = patternRules(setProperties ?? {})
  const name = part('name')
  if (name === undefined ? rules.name === undefined : widthOf(name) === 0) return []
  return [{ kind, def: def.node, name, nameEnd: part('name_end'), owner: part('owner'), rules }]
}

/** A pattern with `@lead` makes no definition: what it captures belongs to the definition that follows it. */
function leadOf({ captures }: QueryMatch): Node[] {
  return captures.flatMap(({ name, node }) => (name === 'lead' ? [node] : []))
}

/** Whether it holds syntax errors of its own. Those of a definition within it are that one's, and it goes on without. */
function isBroken({ def }: MatchedDefinition, all: readonly MatchedDefinition[]): boolean {
  if (!def.hasError) return false
  const within = (inner: Node) => inner.startIndex > def.startIndex && inner.endIndex <= def.endIndex
  return !all.some((other) => other.def.hasError && within(other.def))
}

function widthOf(node: Node): number {
  return node.endIndex - node.startIndex
}

function definitionOf(matched: MatchedDefinition, leads: ReadonlySet<number>): Definition {
  const { kind, def, owner, rules } = matched
  const range = { start: startWithLeads(def, leads), end: endOfCode(def) }
  return { kind, name: nameOf(matched), owner: owner && onOneLine(owner.text), ...range, rules }
}

/** With a `.name_end` a name runs from the one to the other: `Display for Point`. */
function nameOf({ name, nameEnd, rules, def }: MatchedDefinition): string {
  if (name === undefined) return rules.name ?? ''
  if (nameEnd === undefined) return onOneLine(name.text)
  return onOneLine(def.text.slice(name.startIndex - def.startIndex, nameEnd.endIndex - def.startIndex))
}

function onOneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

/** Where a node starts with what leads to it: `#[test]` and `/// why` before a Rust function, comments between them. */
function startWithLeads(def: Node, leads: ReadonlySet<number>): number {
  let start = def.startIndex
  if (leads.size === 0) return start
  for (let before = def.previousSibling; before !== null; before = before.previousSibling) {
    if (leads.has(before.id)) start = before.startIndex
    else if (!before.isExtra) break
  }
  return start
}

/** Where a node ends without the comments that trail in it: they follow the definition and are no part of it. */
function endOfCode(node: Node): number {
  let last = node
  for (let part: Node | undefined = node; part !== undefined; part = lastPart(part)) last = part
  return last.endIndex
}

/** The last child that is not an extra, if the node's end depends on it: it reaches the end, or only extras follow. */
function lastPart(node: Node): Node | undefined {
  for (let index = node.childCount - 1; index >= 0; index--) {
    const child = node.child(index)
    if (child === null || (child.isExtra && !child.isError)) continue
    const extrasFollow = index < node.childCount - 1
    return extrasFollow || child.endIndex === node.endIndex ? child : undefined
  }
  return undefined
}
