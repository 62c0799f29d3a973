import { basename, dirname } from 'node:path/posix'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/ids.ts'
import { getOrMake } from '#platform/cached-answers.ts'

export type MovedNode = { from: CodeNode; to: CodeNode }

export type NodeComparison = {
  added: CodeNode[]
  removed: CodeNode[]
  changed: CodeNode[]
  moved: MovedNode[]
  unchanged: number
}

/**
 * Compares two discoveries of a repository. The same id and hash: unchanged; the same id with another hash: changed. A
 * node with a new id was moved from a node whose id no longer exists when their texts are equal: each is used once; among several equal
 * texts the most similar node comes first: of the same kind and name, in a file of the same name, under the same qualified
 * name, in a node of the same name; then in source order. The lists are in the order given.
 *
 * Limits: a node that was moved and edited, also by its indentation, counts as added and removed; one that took over an existing id (two
 * functions that exchanged their names) counts as changed. A renamed node counts as added and removed until `matchRenames`.
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

function splitMoved(
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
/** A file's qualified name is its path, which changes with every move. */
const ownName = ({ kind, name, qualifiedName }: CodeNode) => (kind === 'file' ? name : qualifiedName)
const outerName = ({ parentId }: CodeNode, nodes: Side['byId']) => nodes.get(parentId ?? '')?.name ?? ''

const likenesses: readonly Likeness[] = [
  (node) => [node.kind, ownName(node), fileName(node)],
  (node) => [node.kind, ownName(node)],
  (node, nodes) => [node.kind, node.name, outerName(node, nodes)],
  (node) => [node.kind, node.name],
  (node) => [node.kind],
  () => [],
]

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

/**
 * Turns pairs of added and removed nodes that differ in nothing but their own name into moved ones. `textOf` returns the text of an added
 * node, if it is available: with the old name for the new one, wherever that occurs as a word, it must have the old text's hash. Only
 * nodes of one kind are paired, each once; nodes of the same file are preferred, then source order.
 *
 * Not found: a node that was also edited, one whose old text contained the new name, one in whose text some mentions kept the old name,
 * and one beyond the first hundred of its size. Two unrelated nodes whose texts differ only in their names look like a rename.
 */
export function matchRenames(
  comparison: NodeComparison,
  textOf: (node: CodeNode) => string | undefined,
): NodeComparison {
  const { added, removed, moved } = comparison
  const shaped = (node: CodeNode) => shapeOf(node.kind, Buffer.byteLength(node.name), sizeOf(node))
  const waiting = Map.groupBy(removed.toReversed(), shaped)
  const waitingNear = Map.groupBy(removed.toReversed(), (node) => `${shaped(node)} ${node.path}`)
  const nameSizes = new Set(removed.map(({ name }) => Buffer.byteLength(name)))
  const froms = new Map<CodeNode, CodeNode>()
  const taken = new Set<CodeNode>()
  for (const to of added) {
    const text = to.kind === 'file' || to.name === '' ? undefined : textOf(to)
    if (text === undefined) continue
    const word = wordOf(to.name)
    const mentions = text.match(word)?.length ?? 0
    const hashAs = (name: string) => sha256(text.replaceAll(word, () => name))
    for (const nameSize of nameSizes) {
      const shape = shapeOf(to.kind, nameSize, sizeOf(to) + mentions * (nameSize - Buffer.byteLength(to.name)))
      const alike = [waitingNear.get(`${shape} ${to.path}`), waiting.get(shape)]
      const from = findRenamed(
        alike.flatMap((nodes) => firstLeft(nodes ?? [], taken)),
        to,
        hashAs,
      )
      if (from === undefined) continue
      froms.set(to, from)
      taken.add(from)
      break
    }
  }
  const split = splitMoved(removed, added, froms)
  return { ...comparison, ...split, moved: [...moved, ...split.moved] }
}

/** Limits the old nodes of the same size that a new one is compared with: with thousands of them, the time would grow quadratically. */
const mostTried = 100

/** The next of `nodes`, which are in reverse order, that is not taken yet. Drops the taken ones from their end. */
function firstLeft(nodes: CodeNode[], taken: ReadonlySet<CodeNode>): CodeNode[] {
  for (let last = nodes.at(-1); last !== undefined && taken.has(last); last = nodes.at(-1)) nodes.pop()
  return nodes
    .slice(-mostTried)
    .filter((node) => !taken.has(node))
    .toReversed()
}

function findRenamed(alike: readonly CodeNode[], to: CodeNode, hashAs: (name: string) => string): CodeNode | undefined {
  const hashes = new Map<string, string>()
  return alike.find(({ name, hash }) => {
    return name !== to.name && getOrMake(hashes, name, () => hashAs(name)) === hash
  })
}

/** The key that two nodes must share to be compared; it excludes nearly all pairs without hashing. */
function shapeOf(kind: string, nameSize: number, size: number): string {
  return `${kind} ${nameSize} ${size}`
}

function sizeOf({ startByte, endByte }: CodeNode): number {
  return endByte - startByte
}

function wordOf(name: string): RegExp {
  const escaped = name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'gu')
}
