import type { Node, QueryMatch, Tree } from 'web-tree-sitter'
import { getOrMake } from '#platform/cached-answers.ts'
import type { IndexedNode } from './node-index.ts'
import type { PatternRules } from './compile-query.ts'
import { definitionRanges, endWithoutSpace, extendHeadings, type Heading } from './definition-range.ts'

/**
 * Every definition of the matches. Matches with the same name node are one definition: the wider range counts (a
 * decorated function), and at equal ranges the pattern that comes first in the pack. `rules` are those of each pattern.
 */
export function findDefinitions(
  { rootNode }: Tree,
  matched: readonly QueryMatch[],
  text: string,
  rules: readonly PatternRules[],
): Definition[] {
  const leads = new Set<number>()
  const parts: MatchedDefinition[] = []
  for (const match of matched.toSorted((left, right) => left.patternIndex - right.patternIndex)) {
    // A pattern with `@lead` makes no definition: what it captures belongs to the definition that follows it.
    for (const { name, node } of match.captures) if (name === 'lead') leads.add(node.id)
    const part = partsOf(match, rules[match.patternIndex])
    if (part !== undefined) parts.push(part)
  }
  const rangeOf = definitionRanges(text, leads)
  const whole = widest(parts)
  const broken = rootNode.hasError ? brokenOf(whole) : nothingBroken
  const sectionTypes = sectionTypesOf(whole)
  const definitions = whole.map((definition) => ({
    kind: definition.kind,
    name: nameOf(definition, text),
    owner: ownerOf(definition, text),
    ...rangeOf(definition.def, definition.end),
    broken: broken.has(definition),
    rules: definition.rules,
    heading: headingOf(definition, sectionTypes),
  }))
  const extended = extendHeadings(definitions)
  // Grammars of languages that are read by lines count the empty lines that follow a definition as its own.
  for (const definition of extended) definition.end = endWithoutSpace(definition.start, definition.end, text)
  return extended
}

/**
 * A definition without a name node is named by its rule. The ends are indices: a `Node` asks the parser for its end each time, which
 * for all definitions of a file costs more than to make them.
 */
type MatchedDefinition = {
  kind: string
  def: Node
  end: number
  name: Node | undefined
  nameEnd: number
  owner: Node | undefined
  rules: PatternRules
}

const nothingBroken: ReadonlySet<MatchedDefinition> = new Set()

/** The names of a definition's captures by that of its `.def`, joined once and not for each match. */
const captureNames = new Map<string, { kind: string; name: string; nameEnd: string; owner: string }>()

function captureNamesOf(def: string) {
  return getOrMake(captureNames, def, () => {
    const kind = def.slice(0, -defSuffix.length)
    return { kind, name: `${kind}.name`, nameEnd: `${kind}.name_end`, owner: `${kind}.owner` }
  })
}

const defSuffix = '.def'

function partsOf({ captures }: QueryMatch, rules: PatternRules | undefined): MatchedDefinition | undefined {
  const def = captures.find((capture) => capture.name.endsWith(defSuffix))
  if (def === undefined || rules === undefined) return undefined
  const names = captureNamesOf(def.name)
  const part = (of: string) => captures.find((capture) => capture.name === of)?.node
  const name = part(names.name)
  const end = name?.endIndex ?? 0
  if (name === undefined ? rules.name === undefined : end === name.startIndex) return undefined
  const nameEnd = part(names.nameEnd)?.endIndex ?? end
  const { kind } = names
  return { kind, def: def.node, end: def.node.endIndex, name, nameEnd, owner: part(names.owner), rules }
}

function widest(matched: readonly MatchedDefinition[]): MatchedDefinition[] {
  const byName = new Map<number, MatchedDefinition>()
  for (const definition of matched) {
    const key = (definition.name ?? definition.def).id
    const known = byName.get(key)
    if (known === undefined || widthOf(definition) > widthOf(known)) byName.set(key, definition)
  }
  return [...byName.values()]
}

function widthOf({ def, end }: MatchedDefinition): number {
  return end - def.startIndex
}

/**
 * The definitions that contain syntax errors of their own; an error in a nested definition belongs to the inner one.
 * Since definitions nest, it is enough to look at the next definition.
 */
function brokenOf(definitions: readonly MatchedDefinition[]): Set<MatchedDefinition> {
  const broken = new Set<MatchedDefinition>()
  let next: MatchedDefinition | undefined
  let here: MatchedDefinition | undefined
  const torn = definitions.filter(({ def }) => def.hasError)
  for (const definition of torn.toSorted((left, right) => right.def.startIndex - left.def.startIndex)) {
    if (here !== undefined && here.def.startIndex > definition.def.startIndex) next = here
    here = definition
    if (next === undefined || next.end > definition.end) broken.add(definition)
  }
  return broken
}

/** An owner that holds the name is the path before it: of `A::B::run` it is `A::B`. */
function ownerOf({ owner, name, rules }: MatchedDefinition, text: string): string | undefined {
  if (owner === undefined) return undefined
  const holdsName = name !== undefined && owner.startIndex <= name.startIndex && name.endIndex <= owner.endIndex
  if (!holdsName) return onOneLine(text.slice(owner.startIndex, owner.endIndex))
  const path = onOneLine(text.slice(owner.startIndex, name.startIndex))
  return path.endsWith(rules.separator) ? path.slice(0, -rules.separator.length).trimEnd() : path
}

/** Reads a name, which runs from `.name` to `.name_end` where the pattern has that: `Display for Point`. */
function nameOf({ name, nameEnd, rules }: MatchedDefinition, text: string): string {
  if (name === undefined) return rules.name ?? ''
  const { strip } = rules
  const line = onOneLine(text.slice(name.startIndex, nameEnd))
  return strip === undefined ? line : line.replace(strip, '').trim() || line
}

/**
 * The contents of a heading are in its parent node. If the parent's type begins with a heading, it is the grammar's own section,
 * which may be too small (markdown's sections ignore underlined headings); then the contents are in the node around it.
 */
function headingOf({ def, rules }: MatchedDefinition, sectionTypes: ReadonlySet<string>): Heading | undefined {
  if (rules.level === undefined) return undefined
  let scope = def.parent ?? def
  while (sectionTypes.has(scope.type) && scope.parent !== null) scope = scope.parent
  return { level: rules.level, scope: { id: scope.id, end: scope.endIndex } }
}

function sectionTypesOf(definitions: readonly MatchedDefinition[]): Set<string> {
  const headings = definitions.filter(({ rules }) => rules.level !== undefined)
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
  const nested: NestedDefinition[] = []
  const enclosing: number[] = []
  const seen = new Map<string, number>()
  const broken = new Set<number>()
  for (const definition of definitions.toSorted((left, right) => left.start - right.start || right.end - left.end)) {
    const { rules, owner, start, end } = definition
    while (endOf(nested, enclosing) <= start) enclosing.pop()
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
    if (definition.broken) broken.add(nested.length)
    nested.push({ kind, name, qualifiedName, ordinal, parent, start, end })
  }
  return withoutBroken(nested, broken)
}

function withoutBroken(all: NestedDefinition[], isBroken: ReadonlySet<number>) {
  /** The qualified names of definitions that are not nodes because their content does not parse. */
  const broken: string[] = []
  if (isBroken.size === 0) return { nested: all, broken }
  const nested: NestedDefinition[] = []
  /** The index of each one in `nested`; a broken one has its parent's index. */
  const places: (number | null)[] = []
  for (const [at, definition] of all.entries()) {
    const parent = definition.parent === null ? null : (places[definition.parent] ?? null)
    places.push(isBroken.has(at) ? parent : nested.length)
    if (isBroken.has(at)) broken.push(definition.qualifiedName)
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
