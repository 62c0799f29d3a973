import { z } from 'zod'
import { CodeNode, nodeView, SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import type { Discovery } from '../../services/discovery/discover/discover-nodes.ts'

/** A discovery as `remora discover --json` prints it. */
export function discoveryView(found: Discovery) {
  const { nodes, edges, files, skipped, durationMs } = found
  return { nodes: nodes.map(nodeView), ...(edges && { edges }), files, skipped, duration_ms: durationMs }
}

const { shape } = CodeNode

/** A document that was printed before; its other keys are ignored. */
const Document = z.object({
  nodes: z.array(
    z
      .object({
        node_id: shape.nodeId,
        kind: shape.kind,
        name: shape.name,
        qualified_name: shape.qualifiedName,
        path: shape.path,
        language: shape.language,
        start_line: shape.startLine,
        end_line: shape.endLine,
        start_byte: shape.startByte,
        end_byte: shape.endByte,
        parent_id: shape.parentId,
        hash: shape.hash,
      })
      .transform((view): CodeNode => ({
        nodeId: view.node_id,
        kind: view.kind,
        name: view.name,
        qualifiedName: view.qualified_name,
        path: view.path,
        language: view.language,
        startLine: view.start_line,
        endLine: view.end_line,
        startByte: view.start_byte,
        endByte: view.end_byte,
        parentId: view.parent_id,
        hash: view.hash,
      })),
  ),
  skipped: z.array(SkippedFile),
})

/** The nodes and skipped files of a document that `discoveryView` made. DISC_005 for any other text. */
export function parseDiscovery(text: string, file: string): z.infer<typeof Document> {
  const parsed = Document.safeParse(jsonOf(text))
  if (parsed.success) return parsed.data
  throw new AppError('DISC_005', `${file} is no output of "remora discover --json"`, { cause: parsed.error })
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
