import { z } from 'zod'
import { CodeNode } from '#domain/code-node.ts'

const node = CodeNode.shape

/** A code node as other programs get it, from `remora discover --json` and from the API alike (contract.md §1). */
export const NodeView = z.strictObject({
  node_id: node.nodeId,
  kind: node.kind,
  name: node.name,
  qualified_name: node.qualifiedName,
  path: z.string(),
  language: node.language,
  start_line: node.startLine,
  end_line: node.endLine,
  start_byte: node.startByte,
  end_byte: node.endByte,
  parent_id: node.parentId,
  hash: node.hash,
})
export type NodeView = z.infer<typeof NodeView>

export function nodeView(of: CodeNode): NodeView {
  return {
    node_id: of.nodeId,
    kind: of.kind,
    name: of.name,
    qualified_name: of.qualifiedName,
    path: of.path,
    language: of.language,
    start_line: of.startLine,
    end_line: of.endLine,
    start_byte: of.startByte,
    end_byte: of.endByte,
    parent_id: of.parentId,
    hash: of.hash,
  }
}
