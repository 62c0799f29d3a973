import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/hash.ts'
import { type NodeComparison, splitMoved } from './compare-nodes.ts'

/**
 * Turns pairs of added and removed nodes that differ in nothing but their own name into moved ones. `textOf` gives the
 * text of an added node, or undefined where it cannot be had. The old text is not needed: with the old name in the
 * place of the new one, wherever it stands as a word, the new text must have the old one's hash. Equal kinds only, each
 * node once; a node of the same file is preferred, then source order.
 *
 * What cannot be told: a node that was renamed and edited otherwise, one whose old text also held the new name, and one
 * that was renamed in part of its own mentions only. Two nodes whose texts differ in their names alone, one deleted and the
 * other added by somebody who never thought of the first, look like a rename too.
 */
export function matchRenames(
  comparison: NodeComparison,
  textOf: (node: CodeNode) => string | undefined,
): NodeComparison {
  const { added, removed, moved } = comparison
  const waiting = Map.groupBy(removed.toReversed(), (node) => shapeOf(node.kind, bytesOf(node.name), sizeOf(node)))
  const nameSizes = new Set(removed.map(({ name }) => bytesOf(name)))
  const froms = new Map<CodeNode, CodeNode>()
  for (const to of added) {
    const text = to.kind === 'file' || to.name === '' ? undefined : textOf(to)
    if (text === undefined) continue
    const word = wordOf(to.name)
    const mentions = text.match(word)?.length ?? 0
    for (const nameSize of nameSizes) {
      const grown = mentions * (nameSize - bytesOf(to.name))
      const alike = waiting.get(shapeOf(to.kind, nameSize, sizeOf(to) + grown)) ?? []
      const from = takeRenamed(alike, to, (name) => sha256(text.replaceAll(word, () => name)))
      if (from === undefined) continue
      froms.set(to, from)
      break
    }
  }
  const split = splitMoved(removed, added, froms)
  return { ...comparison, ...split, moved: [...moved, ...split.moved] }
}

/** Takes the node out of `alike`, which are in reverse order, that the new one was under its old name. */
function takeRenamed(alike: CodeNode[], to: CodeNode, hashAs: (name: string) => string): CodeNode | undefined {
  const hashes = new Map([...new Set(alike.map(({ name }) => name))].map((name) => [name, hashAs(name)]))
  const fits = ({ name, hash }: CodeNode) => name !== to.name && hashes.get(name) === hash
  const near = alike.findLastIndex((node) => node.path === to.path && fits(node))
  const at = near === -1 ? alike.findLastIndex(fits) : near
  return at === -1 ? undefined : alike.splice(at, 1)[0]
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
