import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/hash.ts'
import { compareNodes, type NodeComparison } from '../../services/discovery/discover/compare-nodes.ts'
import type { Discovery } from '../../services/discovery/discover/discover-nodes.ts'
import { matchRenames } from '../../services/discovery/discover/match-renames.ts'

export type FoundNodes = Pick<Discovery, 'nodes' | 'skipped'>

/** `notCompared`: files with nodes that the other side passed over, sorted. */
export type SinceComparison = NodeComparison & { notCompared: string[] }

/**
 * What became of the earlier nodes of the folder `root` in those found now. A file that one side passed over is not
 * compared: that it is ignored, excluded or too large now makes its nodes neither removed nor added.
 */
export async function compareSince(root: string, earlier: FoundNodes, found: FoundNodes): Promise<SinceComparison> {
  const [was, is] = [notPassedOver(found), notPassedOver(earlier)]
  const comparison = compareNodes(earlier.nodes.filter(was), found.nodes.filter(is))
  const texts = await textsOf(root, comparison)
  const left = [...earlier.nodes.filter((node) => !was(node)), ...found.nodes.filter((node) => !is(node))]
  const notCompared = [...new Set(left.map(({ path }) => path))].toSorted()
  return { ...matchRenames(comparison, (node) => texts.get(node.nodeId)), notCompared }
}

function notPassedOver({ nodes, skipped }: FoundNodes): (node: CodeNode) => boolean {
  // A file with nodes is among the skipped ones for what of it does not parse.
  const read = new Set(nodes.map(({ path }) => path))
  const passedOver = new Set(skipped.flatMap(({ path }) => (read.has(path) ? [] : [path])))
  return ({ path }) => {
    const parts = path.split('/')
    return !parts.some((_, index) => passedOver.has(parts.slice(0, index + 1).join('/')))
  }
}

/** The texts of the added nodes, as far as their files are still as they were found. */
async function textsOf(root: string, { added, removed }: NodeComparison): Promise<Map<string, string>> {
  const texts = new Map<string, string>()
  const kinds = new Set(removed.map((node) => node.kind))
  const wanted = added.filter((node) => node.kind !== 'file' && kinds.has(node.kind))
  for (const [path, nodes] of Map.groupBy(wanted, (node) => node.path)) {
    const content = await readFile(join(root, path)).catch(() => Buffer.alloc(0))
    for (const { nodeId, startByte, endByte, hash } of nodes) {
      const bytes = content.subarray(startByte, endByte)
      if (sha256(bytes) === hash) texts.set(nodeId, bytes.toString())
    }
  }
  return texts
}
