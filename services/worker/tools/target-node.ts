import type { CodeNode } from '#domain/code-node.ts'
import type { PathRules } from '#domain/path-rules.ts'
import type { AgentParts } from '../evidence/run-rules.ts'
import { movedRanges, utf16Ranges, type Range } from './lint/text-fixes.ts'
import type { Workspace } from '../workspace/open-workspace.ts'

/** The node that an attempt works on, as its file is now. Positions are in UTF-16 units. */
export type TargetNode = {
  node: CodeNode
  rules: PathRules
  /** The whole file and the node's range in it. Edits inside the node move its end, never its start. */
  locate(): Promise<{ source: string; start: number; end: number }>
  /** The parts whose faults this agent fixes (none: the whole node), and those in them that belong to other agents. */
  parts(): Promise<{ own: readonly Range[]; others: readonly Range[] }>
}

/** Finds `node` in the file as it is now, by the number of characters before and after it in the base. */
export async function openTargetNode(
  node: CodeNode,
  workspace: Workspace,
  { rules, parts = { own: [], others: [] } }: { rules: PathRules; parts?: AgentParts },
): Promise<TargetNode> {
  const text = await workspace.readBase(node.path)
  const base = Buffer.from(text)
  const start = base.subarray(0, node.startByte).toString().length
  const fromEnd = base.subarray(node.endByte).toString().length
  return {
    node,
    rules,
    async locate() {
      const source = await workspace.readText(node.path)
      return { source, start, end: Math.max(start, source.length - fromEnd) }
    },
    async parts() {
      const source = await workspace.readText(node.path)
      const moved = (ranges: AgentParts['own']) => movedRanges(utf16Ranges(text, ranges), text, source)
      return { own: moved(parts.own), others: moved(parts.others) }
    },
  }
}
