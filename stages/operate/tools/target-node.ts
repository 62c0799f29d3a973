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
  locate(): Promise<LocatedNode>
  /** The parts whose faults this agent fixes (none: the whole node), and those in them that belong to other agents. */
  parts(): Promise<{ own: readonly Range[]; others: readonly Range[] }>
}

export type LocatedNode = { source: string; start: number; end: number }

/** The first and the last line of a node in its file, from 1. */
export function linesOfNode({ source, start, end }: LocatedNode): { first: number; last: number } {
  return { first: lineAt(source, start), last: lineAt(source, Math.max(start, end - 1)) }
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split(/\r\n|\r|\n/).length
}

/** Finds `node` in the file as it is now: by the text around it, else by where changes have moved it. */
export async function openTargetNode(
  node: CodeNode,
  workspace: Workspace,
  { rules, parts = { own: [], others: [] } }: { rules: PathRules; parts?: AgentParts },
): Promise<TargetNode> {
  const text = await workspace.readBase(node.path)
  const base = Buffer.from(text)
  const before = base.subarray(0, node.startByte).toString()
  const after = base.subarray(node.endByte).toString()
  return {
    node,
    rules,
    async locate() {
      const source = await workspace.readText(node.path)
      const isAround = source.length >= before.length + after.length
      if (isAround && source.startsWith(before) && source.endsWith(after))
        return { source, start: before.length, end: source.length - after.length }
      const [moved = { start: 0, end: 0 }] = movedRanges(utf16Ranges(text, [node]), text, source)
      return { source, ...moved }
    },
    async parts() {
      const source = await workspace.readText(node.path)
      const moved = (ranges: AgentParts['own']) => movedRanges(utf16Ranges(text, ranges), text, source)
      return { own: moved(parts.own), others: moved(parts.others) }
    },
  }
}
