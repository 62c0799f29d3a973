import type { Node, QueryMatch } from 'web-tree-sitter'
import type { PatternRules } from './compile-query.ts'
import type { Definition } from './definition-tree.ts'
import { extendHeadings, type Heading } from './heading-range.ts'

/** `broken`: the names of definitions that are no nodes, since what they hold does not parse. */
export type FoundDefinitions = { whole: Definition[]; broken: string[] }

/**
 * Every definition of the matches. Those that meet on one name node are one definition: the wider range counts (a
 * decorated function), and at equal ranges the pattern that comes first in the pack. `rules` are those of each pattern.
 */
export function findDefinitions(
  found: readonly QueryMatch[],
  text: string,
  rules: readonly PatternRules[],
): FoundDefinitions {
  const matches = found.toSorted((a, b) => a.patternIndex - b.patternIndex)
  const leads = new Set(matches.flatMap(leadsOf))
  const definitions = widest(matches.flatMap((match) => partsOf(match, rules[match.patternIndex])))
  const broken = definitions.filter((one) => isBroken(one, definitions))
  const whole = broken.length === 0 ? definitions : definitions.filter((one) => !broken.includes(one))
  const extended = extendHeadings(whole.map((one) => definitionOf(one, leads, text)))
  return {
    whole: extended.map(({ heading: _, ...one }) => withoutEndingSpace(one, text)),
    broken: broken.map((one) => nameOf(one, text)),
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

function partsOf({ captures }: QueryMatch, rules: PatternRules | undefined): MatchedDefinition[] {
  const def = captures.find((capture) => capture.name.endsWith('.def'))
  const kind = def?.name.slice(0, -'.def'.length)
  if (def === undefined || kind === undefined || rules === undefined) return []
  const part = (name: string) => captures.find((capture) => capture.name === `${kind}.${name}`)?.node
  const name = part('name')
  if (name === undefined ? rules.name === undefined : widthOf(name) === 0) return []
  return [{ kind, def: def.node, name, nameEnd: part('name_end'), owner: part('owner'), rules }]
}

/** A pattern with `@lead` makes no definition: what it captures belongs to the definition that follows it. */
function leadsOf({ captures }: QueryMatch): number[] {
  return captures.flatMap(({ name, node }) => (name === 'lead' ? [node.id] : []))
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

/** Whether it holds syntax errors of its own. Those of a definition within it are that one's, and it goes on without. */
function isBroken({ def }: MatchedDefinition, all: readonly MatchedDefinition[]): boolean {
  if (!def.hasError) return false
  const within = (inner: Node) => inner.startIndex > def.startIndex && inner.endIndex <= def.endIndex
  return !all.some((other) => other.def.hasError && within(other.def))
}

function widthOf(node: Node): number {
  return node.endIndex - node.startIndex
}

function definitionOf(
  matched: MatchedDefinition,
  leads: ReadonlySet<number>,
  text: string,
): Definition & { heading: Heading | undefined } {
  const { kind, def, rules } = matched
  const range = { start: startWithLeads(def, leads), end: endOfCode(def, text) }
  const heading = rules.level === undefined ? undefined : { level: rules.level, scope: scopeOf(def) }
  return { kind, name: nameOf(matched, text), owner: ownerOf(matched, text), ...range, heading, rules }
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

/** What a heading heads lies in its parent, and in the parents of the same type around it (sections in sections). */
function scopeOf(heading: Node): Heading['scope'] {
  let scope = heading.parent ?? heading
  for (let outer = scope.parent; outer !== null && outer.type === scope.type; outer = outer.parent) scope = outer
  return { id: scope.id, end: scope.endIndex }
}

/** Grammars of languages that are read by lines count the empty lines that follow a definition as its own. */
function withoutEndingSpace<T extends { start: number; end: number }>(definition: T, text: string): T {
  const end = endWithoutSpace(definition.start, definition.end, text)
  return end === definition.end ? definition : { ...definition, end }
}

function endWithoutSpace(start: number, end: number, text: string): number {
  let last = end
  while (last > start && isSpace(text.charCodeAt(last - 1))) last--
  return last
}

function isSpace(charCode: number): boolean {
  return charCode === 0x20 || (charCode >= 0x09 && charCode <= 0x0d)
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

/** What the last token of a comment is called in one grammar or another. */
const endsComment = /comment|^(?:\/\/.*|\*\/)$/

/**
 * Where a node ends without the comments that trail in it: they follow the definition and are no part of it. Most end
 * in no comment, which the last token tells in one call of the parser, where looking at all last children takes dozens.
 */
function endOfCode(node: Node, text: string): number {
  const token = node.descendantForIndex(endWithoutSpace(node.startIndex, node.endIndex, text) - 1)
  if (token !== null && !token.isExtra && !endsComment.test(token.type)) return node.endIndex
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
