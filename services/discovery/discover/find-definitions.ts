import type { Node, QueryMatch } from 'web-tree-sitter'
import type { IndexedNode } from './node-index.ts'
import type { PatternRules } from './compile-query.ts'
import { definitionRanges, endWithoutSpace, extendHeadings, type Heading } from './definition-range.ts'

/**
 * Every definition of the matches. Matches with the same name node are one definition: the wider range counts (a
 * decorated function), and at equal ranges the pattern that comes first in the pack. `rules` are those of each pattern.
 */
export function findDefinitions(
  matched: readonly QueryMatch[],
  text: string,
  rules: readonly PatternRules[],
): Definition[] {
  const matches = matched.toSorted((a, b) => a.patternIndex - b.patternIndex)
  // A pattern with `@lead` makes no definition: what it captures belongs to the definition that follows it.
  const leads = matches.flatMap(({ captures }) => captures.filter(({ name }) => name === 'lead'))
  const rangeOf = definitionRanges(text, new Set(leads.map(({ node }) => node.id)))
  const found = widest(matches.flatMap((match) => partsOf(match, rules[match.patternIndex])))
  const broken = brokenOnes(found)
  const sectionTypes = sectionTypesOf(found)
  const headed = found.map((one) => ({
    ...definitionOf(one, text, sectionTypes),
    ...rangeOf(one.def),
    broken: broken.has(one),
  }))
  // Grammars of languages that are read by lines count the empty lines that follow a definition as its own.
  return extendHeadings(headed).map(({ heading: _, ...one }) => ({
    ...one,
    end: endWithoutSpace(one.start, one.end, text),
  }))
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

function partsOf({ captures }: QueryMatch, rules: PatternRules | undefined): MatchedDefinition[] {
  const def = captures.find((capture) => capture.name.endsWith('.def'))
  const kind = def?.name.slice(0, -'.def'.length)
  if (def === undefined || kind === undefined || rules === undefined) return []
  const part = (name: string) => captures.find((capture) => capture.name === `${kind}.${name}`)?.node
  const name = part('name')
  if (name === undefined ? rules.name === undefined : widthOf(name) === 0) return []
  return [{ kind, def: def.node, name, nameEnd: part('name_end'), owner: part('owner'), rules }]
}

function widest(matched: readonly MatchedDefinition[]): MatchedDefinition[] {
  const byName = new Map<number, MatchedDefinition>()
  for (const one of matched) {
    const key = (one.name ?? one.def).id
    const known = byName.get(key)
    if (known === undefined || widthOf(one.def) > widthOf(known.def)) byName.set(key, one)
  }
  return [...byName.values()]
}

/**
 * The definitions that contain syntax errors of their own; an error in a nested definition belongs to the inner one.
 * Since definitions nest, it is enough to look at the next definition.
 */
function brokenOnes(found: readonly MatchedDefinition[]): Set<MatchedDefinition> {
  const broken = new Set<MatchedDefinition>()
  let next: Node | undefined
  let here: Node | undefined
  const torn = found.filter(({ def }) => def.hasError)
  for (const one of torn.toSorted((a, b) => b.def.startIndex - a.def.startIndex)) {
    if (here !== undefined && here.startIndex > one.def.startIndex) next = here
    here = one.def
    if (next === undefined || next.endIndex > one.def.endIndex) broken.add(one)
  }
  return broken
}

function widthOf(node: Node): number {
  return node.endIndex - node.startIndex
}

function definitionOf(matched: MatchedDefinition, text: string, sectionTypes: ReadonlySet<string>) {
  const { kind, def, rules } = matched
  const heading = rules.level === undefined ? undefined : { level: rules.level, scope: scopeOf(def, sectionTypes) }
  return { kind, name: nameOf(matched, text), owner: ownerOf(matched, text), heading, rules }
}

/** An owner that holds the name is the path before it: of `A::B::run` it is `A::B`. */
function ownerOf({ owner, name, rules }: MatchedDefinition, text: string): string | undefined {
  if (owner === undefined) return undefined
  const holdsName = name !== undefined && owner.startIndex <= name.startIndex && name.endIndex <= owner.endIndex
  if (!holdsName) return onOneLine(text.slice(owner.startIndex, owner.endIndex))
  const path = onOneLine(text.slice(owner.startIndex, name.startIndex))
  return path.endsWith(rules.separator) ? path.slice(0, -rules.separator.length).trimEnd() : path
}

/** With a `.name_end` a name runs from the one to the other: `Display for Point`. */
function nameOf({ name, nameEnd, rules }: MatchedDefinition, text: string): string {
  if (name === undefined) return rules.name ?? ''
  const { strip } = rules
  const line = onOneLine(text.slice(name.startIndex, (nameEnd ?? name).endIndex))
  return strip === undefined ? line : line.replace(strip, '').trim() || line
}

/**
 * The contents of a heading are in its parent node. If the parent's type begins with a heading, it is the grammar's own section,
 * which may be too small (markdown's sections ignore underlined headings); then the contents are in the node around it.
 */
function scopeOf(heading: Node, sectionTypes: ReadonlySet<string>): Heading['scope'] {
  let scope = heading.parent ?? heading
  while (sectionTypes.has(scope.type) && scope.parent !== null) scope = scope.parent
  return { id: scope.id, end: scope.endIndex }
}

function sectionTypesOf(found: readonly MatchedDefinition[]): Set<string> {
  const headings = found.filter(({ rules }) => rules.level !== undefined)
  const parents = headings.flatMap(({ def }) => (def.parent?.startIndex === def.startIndex ? [def.parent] : []))
  return new Set(parents.map((parent) => parent.type))
}

function onOneLine(text: string): string {
  return text.trim().replace(/\s+/g, ' ')
}

export type Definition = {
  kind: string
  name: string
  /** The node that it belongs to although it is elsewhere: `func (s *Server) Run`, `void Server::run()`. */
  owner: string | undefined
  start: number
  end: number
  /** It holds syntax errors of its own. */
  broken: boolean
  rules: Pick<PatternRules, 'inside' | 'separator'>
}

/** `parent` is an index into the returned list, or null at the top of the file. */
type NestedDefinition = Pick<IndexedNode, 'kind' | 'name' | 'qualifiedName' | 'ordinal' | 'parent'> &
  Pick<Definition, 'start' | 'end'>

/**
 * Nests definitions by their ranges, in source order, outer before inner. Kinds are decided from the outside in; qualified
 * names join the enclosing names, the owner's and their own with the pattern's separator; equal (kind, qualified name)
 * pairs are numbered. Broken ones count for the others, so that no syntax error changes those, and are then left out.
 */
export function nestDefinitions(definitions: readonly Definition[]) {
  const nested: (NestedDefinition & { broken: boolean })[] = []
  const enclosing: number[] = []
  const seen = new Map<string, number>()
  for (const { rules, owner, ...definition } of definitions.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    while (endOf(nested, enclosing) <= definition.start) enclosing.pop()
    const parent = enclosing.at(-1) ?? null
    const outer = parent === null ? undefined : nested[parent]
    const outerKind = outer?.kind ?? 'file'
    const kind = (Object.hasOwn(rules.inside, outerKind) ? rules.inside[outerKind] : undefined) ?? definition.kind
    const name = shortened(definition.name)
    const names = [outer?.qualifiedName, owner, name].filter((part) => part !== undefined)
    const qualifiedName = shortened(names.join(rules.separator))
    const identity = `${kind}\0${qualifiedName}`
    const ordinal = seen.get(identity) ?? 0
    seen.set(identity, ordinal + 1)
    enclosing.push(nested.length)
    nested.push({ ...definition, name, kind, qualifiedName, ordinal, parent })
  }
  return withoutBroken(nested)
}

/** Nodes in a broken definition get its parent as their parent. */
function withoutBroken(all: readonly (NestedDefinition & { broken: boolean })[]) {
  const nested: NestedDefinition[] = []
  /** The qualified names of definitions that are not nodes because their content does not parse. */
  const broken: string[] = []
  /** The index of each one in `nested`; a broken one has its parent's index. */
  const places: (number | null)[] = []
  for (const { broken: isBroken, ...definition } of all) {
    const parent = definition.parent === null ? null : (places[definition.parent] ?? null)
    places.push(isBroken ? parent : nested.length)
    if (isBroken) broken.push(definition.qualifiedName)
    else nested.push({ ...definition, parent })
  }
  return { nested, broken }
}

/** Bounds the length of qualified names, which contain those of all enclosing nodes: with deep nesting, memory would grow quadratically. */
const longestName = 1000

function shortened(name: string): string {
  if (name.length <= longestName) return name
  return `${name.slice(0, longestName).replace(/[\uD800-\uDBFF]$/, '')}…`
}

function endOf(nested: readonly NestedDefinition[], enclosing: readonly number[]): number {
  const innermost = enclosing.at(-1)
  return innermost === undefined ? Number.POSITIVE_INFINITY : (nested[innermost]?.end ?? 0)
}
