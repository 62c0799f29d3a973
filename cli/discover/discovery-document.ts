import { z } from 'zod'
import { CodeNode, nodeView, NodeView, SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { camelKeys } from '#domain/wire-keys.ts'
import type { Discovery } from '#stages/discover/discover-nodes.ts'

export function discoveryView(discovery: Discovery) {
  const { nodes, edges, files, skipped, durationMs } = discovery
  return { nodes: nodes.map(nodeView), ...(edges && { edges }), files, skipped, duration_ms: durationMs }
}

/** A document that was printed before; its other keys are ignored. */
const Document = z.object({
  nodes: z.array(
    z.object({ ...NodeView.shape, path: CodeNode.shape.path }).transform((view): CodeNode => camelKeys(view)),
  ),
  skipped: z.array(SkippedFile),
})

/** Returns the nodes and skipped files of a document that `discoveryView` made. DISC_005 for any other text. */
export function parseDiscovery(text: string, file: string): z.infer<typeof Document> {
  const parsed = Document.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw new AppError('DISC_005', `${file} is no output of "remora discover --json"`, { cause: parsed.error })
}
