import type { CodeNode } from '#domain/code-node.ts'
import type { PathRules } from '#domain/path-rules.ts'
import type { Workspace } from '../workspace/open-workspace.ts'

/** The node an attempt works on: its place in the file as it stands now, in UTF-16 units, and its text. */
export type TargetNode = {
  node: CodeNode
  /** What the repository says about its file. */
  rules: PathRules
  /** The whole file and the node's range in it. Edits inside the node move its end, never its start. */
  locate(): Promise<{ source: string; start: number; end: number }>
}

/** Anchors `node` in the workspace's file by the bytes before and after it in the base, whatever was written since. */
export async function openTargetNode(node: CodeNode, workspace: Workspace, rules: PathRules): Promise<TargetNode> {
  const base = Buffer.from(await workspace.readBase(node.path))
  const start = base.subarray(0, node.startByte).toString().length
  const fromEnd = base.subarray(node.endByte).toString().length
  return {
    node,
    rules,
    async locate() {
      const source = await workspace.readText(node.path)
      return { source, start, end: Math.max(start, source.length - fromEnd) }
    },
  }
}
