import type { Node } from 'web-tree-sitter'
import { getOrMake } from '#platform/cached-answers.ts'

/** Finds the ranges of definitions, with the leads before them and without comments that trail. Takes linear time. */
export function definitionRanges(text: string, leads: ReadonlySet<number>) {
  const siblingsOf = siblingFinder()
  const ends = new Map<number, number>()
  return (def: Node, end: number) => ({
    start: startWithLeads(def, leads, siblingsOf),
    end: endOfCode(def, end, { text, ends }),
  })
}

export function endWithoutSpace(start: number, end: number, text: string): number {
  let last = end
  while (last > start && isSpace(text.charCodeAt(last - 1))) last--
  return last
}

const isSpace = (charCode: number) => charCode === 0x20 || (charCode >= 0x09 && charCode <= 0x0d)

type Siblings = { children: readonly Node[]; indexes: ReadonlyMap<number, number> }

/** A node's parent with its children. Every call of the parser for one sibling costs as much as one for all. */
function siblingFinder(): (node: Node) => Siblings {
  const known = new Map<number, Siblings>()
  return (node) =>
    getOrMake(known, (node.parent ?? node).id, () => {
      const children = node.parent?.children ?? [node]
      return { children, indexes: new Map(children.map((child, index) => [child.id, index])) }
    })
}

/** The start of a node, including its leads: `#[test]` and `/// why` before a Rust function, comments between them. */
function startWithLeads(def: Node, leads: ReadonlySet<number>, siblingsOf: (node: Node) => Siblings): number {
  let start = def.startIndex
  const nearest = leads.size === 0 ? null : def.previousSibling
  if (nearest === null || (!leads.has(nearest.id) && !nearest.isExtra)) return start
  const { children, indexes } = siblingsOf(def)
  for (let index = (indexes.get(def.id) ?? 0) - 1; index >= 0; index--) {
    const before = children[index]
    if (before === undefined) break
    if (leads.has(before.id)) start = before.startIndex
    else if (!before.isExtra) break
  }
  return start
}

const endsComment = /comment|^(?:\/\/.*|\*\/)$/

/**
 * The end of a node without trailing comments, which are no part of the definition. Most nodes do not end in a comment:
 * the last token shows that in one call of the parser, while looking at all last children takes dozens. `ends` caches
 * the results by node id, since nested nodes may have the same end.
 */
function endOfCode(node: Node, nodeEnd: number, { text, ends }: { text: string; ends: Map<number, number> }): number {
  const known = ends.get(node.id)
  if (known !== undefined) return known
  const token = node.descendantForIndex(endWithoutSpace(node.startIndex, nodeEnd, text) - 1)
  if (token !== null && !token.isExtra && !endsComment.test(token.type)) return nodeEnd
  const passed: number[] = []
  let last = node
  for (let part: Node | undefined = node; part !== undefined && !ends.has(last.id); part = lastPart(part)) {
    last = part
    passed.push(part.id)
  }
  const end = ends.get(last.id) ?? last.endIndex
  for (const id of passed) ends.set(id, end)
  return end
}

/** The last child that is not an extra, if the node's end depends on it: it reaches the end, or only extras follow. */
function lastPart(node: Node): Node | undefined {
  const { children } = node
  const at = children.findLastIndex((child) => !child.isExtra || child.isError)
  const child = children[at]
  return at < children.length - 1 || child?.endIndex === node.endIndex ? child : undefined
}

export type Heading = {
  level: number
  /** The id of the scope in its tree, and the index after its last character. */
  scope: { id: number; end: number }
}

type Headed = { kind: string; start: number; end: number; heading: Heading | undefined }

/** Extends headings (markdown, `namespace App;`) up to the next of the same kind, scope and level, or to the end of the scope. */
export function extendHeadings<T extends Headed>(definitions: readonly T[]): T[] {
  const extended = definitions
    .map((definition) => ({ ...definition }))
    .toSorted((left, right) => left.start - right.start)
  const open = new Map<string, { definition: T; level: number }[]>()
  for (const definition of extended) {
    const { kind, start, heading } = definition
    if (heading === undefined) continue
    const { level, scope } = heading
    const stack = getOrMake(open, `${kind}\0${scope.id}`, () => [])
    for (let last = stack.at(-1); last !== undefined && last.level >= level; last = stack.at(-1)) {
      last.definition.end = start
      stack.pop()
    }
    definition.end = scope.end
    stack.push({ definition, level })
  }
  return extended
}
