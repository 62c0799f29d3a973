import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/hash.ts'
import { type NodeComparison, splitMoved } from './compare-nodes.ts'

/**
 * Turns pairs of added and removed nodes that differ in nothing but their own name into moved ones. `textOf` gives the
 * text of an added node, or undefined where it cannot be had. The old text is not needed: with the old name in the
 * place of the new one, wherever it stands as a word, the new text must have the old one's hash. Equal kinds only, each
 * node once; a node of the same file is preferred, then source order.
 *
 * What cannot be told: a node that was renamed and edited otherwise, one whose old text also held the new name, one that
 * was renamed in part of its own mentions only, and one behind a hundred others of its size. Two nodes whose texts differ
 * in their names alone, one deleted and the other added by somebody who never thought of the first, look like a rename
 * too.
 */
export function matchRenames(
  comparison: NodeComparison,
  textOf: (node: CodeNode) => string | undefined,
): NodeComparison {
  const { added, removed, moved } = comparison
  const shaped = (node: CodeNode) => shapeOf(node.kind, bytesOf(node.name), sizeOf(node))
  const waiting = Map.groupBy(removed.toReversed(), shaped)
  const waitingNear = Map.groupBy(removed.toReversed(), (node) => `${shaped(node)} ${node.path}`)
  const nameSizes = new Set(removed.map(({ name }) => bytesOf(name)))
  const froms = new Map<CodeNode, CodeNode>()
  const taken = new Set<CodeNode>()
  for (const to of added) {
    const text = to.kind === 'file' || to.name === '' ? undefined : textOf(to)
    if (text === undefined) continue
    const word = wordOf(to.name)
    const mentions = text.match(word)?.length ?? 0
    const hashAs = (name: string) => sha256(text.replaceAll(word, () => name))
    for (const nameSize of nameSizes) {
      const shape = shapeOf(to.kind, nameSize, sizeOf(to) + mentions * (nameSize - bytesOf(to.name)))
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

/** How many old nodes of one size a new one is held against: thousands of the same size would cost their square. */
const mostTried = 100

/** The first of those that are left of `nodes`, which are in reverse order. Drops what was taken from their end. */
function firstLeft(nodes: CodeNode[], taken: ReadonlySet<CodeNode>): CodeNode[] {
  for (let last = nodes.at(-1); last !== undefined && taken.has(last); last = nodes.at(-1)) nodes.pop()
  return nodes
    .slice(-mostTried)
    .filter((node) => !taken.has(node))
    .toReversed()
}

/** The node of `alike` that the new one was under its old name. */
function findRenamed(alike: readonly CodeNode[], to: CodeNode, hashAs: (name: string) => string): CodeNode | undefined {
  const hashes = new Map<string, string>()
  return alike.find(({ name, hash }) => {
    const hashed = hashes.get(name) ?? hashAs(name)
    hashes.set(name, hashed)
    return name !== to.name && hashed === hash
  })
}

/** What a node must have to be a candidate: nearly all pairs are ruled out by it, without hashing. */
function shapeOf(kind: string, nameSize: number, size: number): string {
  return `${kind} ${nameSize} ${size}`
}

function bytesOf(name: string): number {
  return Buffer.byteLength(name)
}

function sizeOf({ startByte, endByte }: CodeNode): number {
  return endByte - startByte
}

/** Every place where a name stands as a word, and not as a part of one. */
function wordOf(name: string): RegExp {
  const escaped = name.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')
  return new RegExp(`(?<![\\p{L}\\p{N}_])${escaped}(?![\\p{L}\\p{N}_])`, 'gu')
}
