import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CodeNode } from '#domain/code-node.ts'
import { sha256 } from '#domain/hash.ts'
import { compareNodes, type NodeComparison } from '../../services/discovery/discover/compare-nodes.ts'
import type { Discovery } from '../../services/discovery/discover/discover-nodes.ts'
import { matchRenames } from '../../services/discovery/discover/match-renames.ts'
import type { EarlierNodes } from './earlier-nodes.ts'

/**
 * What became of the earlier nodes of the folder `root` in those found now. A file that one side passed over is not
 * compared: that it is ignored, excluded or too large now makes its nodes neither removed nor added.
 */
export async function compareSince(root: string, earlier: EarlierNodes, found: Discovery): Promise<NodeComparison> {
  const before = earlier.nodes.filter(notPassedOver(found))
  const after = found.nodes.filter(notPassedOver(earlier))
  const comparison = compareNodes(before, after)
  const texts = await textsOf(root, comparison)
  return matchRenames(comparison, (node) => texts.get(node.nodeId))
}

function notPassedOver({ nodes, skipped }: EarlierNodes): (node: CodeNode) => boolean {
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
