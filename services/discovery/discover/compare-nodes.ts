import { basename, dirname } from 'node:path/posix'
import type { CodeNode } from '#domain/code-node.ts'

export type MovedNode = { from: CodeNode; to: CodeNode }

/** What became of the nodes of one tree in another; every node of either is counted once. */
export type NodeComparison = {
  added: CodeNode[]
  removed: CodeNode[]
  /** As they are now. */
  changed: CodeNode[]
  moved: MovedNode[]
  unchanged: number
}

/**
 * Compares two discoveries of a repository. The same id and hash: unchanged; the same id with another hash: changed. A
 * node whose id is new was moved from one whose id is gone when their texts are equal: each is taken once, and among
 * several equal texts the likest first: of the same kind and name, in a file of the same name, under the same qualified
 * name, in a node of the same name; then in source order. The lists are in the order given.
 *
 * What cannot be told: a node that was moved and edited is added and removed; one that took an id that was there before
 * (two functions that exchanged their names, the second of two equal names when the first is gone) is changed; a move
 * that indents the text otherwise changes its text. A renamed node is added and removed until `matchRenames`.
 */
export function compareNodes(before: readonly CodeNode[], after: readonly CodeNode[]): NodeComparison {
  const known = byId(before)
  const present = byId(after)
  const fresh = after.filter((node) => !known.has(node.nodeId))
  const gone = before.filter((node) => !present.has(node.nodeId))
  const stayed = after.filter((node) => known.has(node.nodeId))
  const changed = stayed.filter((node) => known.get(node.nodeId)?.hash !== node.hash)
  const froms = matchEqualTexts({ nodes: gone, byId: known }, { nodes: fresh, byId: present })
  return { changed, unchanged: stayed.length - changed.length, ...splitMoved(gone, fresh, froms) }
}

/** Splits what is gone and what is new by which new node came from which old one. */
export function splitMoved(
  gone: readonly CodeNode[],
  fresh: readonly CodeNode[],
  froms: ReadonlyMap<CodeNode, CodeNode>,
): Pick<NodeComparison, 'added' | 'removed' | 'moved'> {
  const taken = new Set(froms.values())
  return {
    added: fresh.filter((node) => !froms.has(node)),
    removed: gone.filter((node) => !taken.has(node)),
    moved: fresh.flatMap((to) => {
      const from = froms.get(to)
      return from === undefined ? [] : [{ from, to }]
    }),
  }
}

type Side = { nodes: readonly CodeNode[]; byId: ReadonlyMap<string, CodeNode> }
type Likeness = (node: CodeNode, nodes: Side['byId']) => readonly string[]

const fileName = ({ kind, path }: CodeNode) => (kind === 'file' ? basename(dirname(path)) : basename(path))
/** A file's qualified name is its path, which is another one wherever it was moved. */
const ownName = ({ kind, name, qualifiedName }: CodeNode) => (kind === 'file' ? name : qualifiedName)
const outerName = ({ parentId }: CodeNode, nodes: Side['byId']) => nodes.get(parentId ?? '')?.name ?? ''

/** How alike two nodes of equal text can be, the likest first. */
const likenesses: readonly Likeness[] = [
  (node) => [node.kind, ownName(node), fileName(node)],
  (node) => [node.kind, ownName(node)],
  (node, nodes) => [node.kind, node.name, outerName(node, nodes)],
  (node) => [node.kind, node.name],
  (node) => [node.kind],
  () => [],
]

/** New node → the one it was, for equal texts. */
function matchEqualTexts(gone: Side, fresh: Side): Map<CodeNode, CodeNode> {
  const froms = new Map<CodeNode, CodeNode>()
  const taken = new Set<CodeNode>()
  for (const likeness of likenesses) {
    const keyOf = (node: CodeNode, side: Side) => [node.hash, ...likeness(node, side.byId)].join('\0')
    const left = gone.nodes.filter((node) => !taken.has(node))
    const waiting = Map.groupBy(left.toReversed(), (node) => keyOf(node, gone))
    for (const to of fresh.nodes) {
      const from = froms.has(to) ? undefined : waiting.get(keyOf(to, fresh))?.pop()
      if (from === undefined) continue
      froms.set(to, from)
      taken.add(from)
    }
  }
  return froms
}

function byId(nodes: readonly CodeNode[]): Map<string, CodeNode> {
  return new Map(nodes.map((node) => [node.nodeId, node]))
}
