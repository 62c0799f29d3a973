import { Query, type Language, type Node, type Tree } from 'web-tree-sitter'
import { z } from 'zod'
import { DefinitionDocFacts, factsOf, foundDefinitions, type FoundDefinition } from './definition-facts.ts'
import { waivedKinds } from './docstring-exemption.ts'
import { codeIn, docstringParts } from './docstring-expression.ts'
import { DocstringRead, docstringUses } from './docstring-reads.ts'
import { docstringContent } from './docstring-site.ts'
import { DocstringVotes, namesTypes, noVotes, styleOfDocstring } from './docstring-style.ts'
import { readImports } from './imported-names.ts'
import { namesAsValues, valueQuery } from './names-as-values.ts'

/** What one Python file says about docstrings: its own, and those that it reads. Plain data, made once per file. */
export const FileDocstringFacts = z.strictObject({
  definitions: z.array(DefinitionDocFacts),
  reads: z.array(DocstringRead),
  /** Modules imported from outside of the repository's package, by dotted names. */
  modules: z.array(z.string()),
  /** What the file hands on as values: names it defines or imports, and attributes of anything with a leading dot. */
  values: z.array(z.string()),
  votes: DocstringVotes,
})
export type FileDocstringFacts = z.infer<typeof FileDocstringFacts>

const queries = new WeakMap<Language, Query>()
const queryText = `
(function_definition) @definition
(class_definition) @definition
(import_statement) @import
(import_from_statement) @import
(module (expression_statement (assignment left: (identifier) @all right: (_))))
(module (expression_statement (augmented_assignment left: (identifier) @all right: (_))))
${valueQuery}`

/** The facts of one file. `tree` is that of `source`, which is the file as it is stored; the tree is the caller's. */
export function docstringFactsOf(tree: Tree, source: string, path: string): FileDocstringFacts {
  const captured = capturesOf(tree)
  const definitions = foundDefinitions(captured.get('definition') ?? [])
  const defined = new Set(definitions.map(({ name }) => name))
  const names = readImports(captured.get('import') ?? [], defined)
  const uses = docstringUses({ tree, source, names, definitions })
  const exported = exportedNames(captured.get('all') ?? [])
  const module = { path, names, exported, docSetFor: uses.setFor, waived: waivedKinds(source) }
  const byteOf = byteOffsets(source, definitions)
  return {
    definitions: definitions.map((found) => ({
      ...factsOf(found, module),
      startByte: byteOf(found.start),
      endByte: byteOf(found.end),
    })),
    reads: uses.reads,
    modules: names.modules,
    values: namesAsValues(captured.get('value') ?? [], (name) => defined.has(name) || names.isImported(name)),
    votes: votesOf(definitions, source),
  }
}

function capturesOf(tree: Tree): Map<string, Node[]> {
  const query = queries.get(tree.language) ?? new Query(tree.language, queryText)
  queries.set(tree.language, query)
  const found = new Map<string, Node[]>()
  for (const { name, node } of query.captures(tree.rootNode)) {
    const known = found.get(name)
    if (known === undefined) found.set(name, [node])
    else known.push(node)
  }
  return found
}

/** What the module's `__all__` lists. Undefined without one, and where anything but plain strings makes it up. */
function exportedNames(assigned: readonly Node[]): Set<string> | undefined {
  const values = assigned
    .filter((node) => node.text === '__all__')
    .map((node) => node.parent?.childForFieldName('right'))
  if (values.length === 0) return undefined
  const items = values.flatMap((value) => (value === null || value === undefined ? [] : listed(value)))
  return items.includes(undefined) ? undefined : new Set(items.filter((item) => item !== undefined))
}

function listed(value: Node): (string | undefined)[] {
  if (value.type !== 'list' && value.type !== 'tuple') return [undefined]
  return codeIn(value).map((item) => (item.type === 'string' ? item.text.replace(/^\w*["']+|["']+$/g, '') : undefined))
}

/** Offsets in UTF-8 of the places where definitions begin and end. */
function byteOffsets(source: string, definitions: readonly FoundDefinition[]): (index: number) => number {
  if (Buffer.byteLength(source) === source.length) return (index) => index
  const indices = definitions.flatMap(({ start, end }) => [start, end]).toSorted((a, b) => a - b)
  const known = new Map<number, number>()
  let last = 0
  let bytes = 0
  for (const index of indices) {
    bytes += Buffer.byteLength(source.slice(last, index))
    last = index
    known.set(index, bytes)
  }
  return (index) => known.get(index) ?? 0
}

function votesOf(definitions: readonly FoundDefinition[], source: string): DocstringVotes {
  const votes = { ...noVotes }
  for (const { site, kind } of definitions) {
    const { docstring } = site
    if (docstring === undefined) continue
    const content = docstringContent(docstring)
    const style = styleOfDocstring(content)
    const isPlainClass = style === 'plain' && (kind === 'class' || !hasParameters(site.definition))
    if (!isPlainClass) votes[style] += 1
    const typed = namesTypes(content, style)
    if (typed !== undefined) votes[typed ? 'typed' : 'untyped'] += 1
    const returned = /^[ \t]*:(returns?):/m.exec(content)?.[1]
    if (returned !== undefined) votes[returned === 'return' ? 'returnField' : 'returnsField'] += 1
    const quotes = /^\w*("""|''')/.exec(docstringParts(docstring)[0]?.text ?? '')?.[1]
    if (quotes !== undefined) votes[quotes === '"""' ? 'doubleQuotes' : 'singleQuotes'] += 1
    const isLong = content.trim().includes('\n')
    if (isLong) votes[/^[ \t]*\r?\n/.test(content) ? 'secondLine' : 'firstLine'] += 1
    const hasMore = codeIn(site.body).length > 1
    if (kind === 'class' && hasMore) votes[isFollowedByGap(docstring, source) ? 'classGap' : 'classNoGap'] += 1
  }
  return votes
}

/** Parameters beside the instance or the class: something that a section could be about. */
function hasParameters(definition: Node): boolean {
  const list = definition.childForFieldName('parameters')
  const [first, ...rest] = list === null ? [] : codeIn(list)
  return rest.length > 0 || (first !== undefined && !/^(self|cls|mcs|mcls)$/.test(first.text))
}

function isFollowedByGap(docstring: Node, source: string): boolean {
  return /^[^\n]*\r?\n[ \t]*\r?\n/.test(source.slice(docstring.endIndex, docstring.endIndex + 300))
}
