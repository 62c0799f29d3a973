import { z } from 'zod'
import { CodeNode, nodeView, NodeView, SkippedFile } from '#domain/code-node.ts'
import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import { camelKeys } from '#domain/wire-keys.ts'
import type { Discovery } from '#stages/discover/discover-nodes.ts'

const nodesAtOnce = 1_000

/** Writes a discovery as JSON, with the keys of `further`, in pieces: as one text, 75,000 nodes took 600 MB. */
export function* discoveryTexts(discovery: Discovery, further: object): Generator<string> {
  const { nodes, edges, files, skipped, durationMs } = discovery
  yield '{"nodes":['
  for (let start = 0; start < nodes.length; start += nodesAtOnce) {
    const texts = nodes.slice(start, start + nodesAtOnce).map((node) => JSON.stringify(nodeView(node)))
    yield `${start === 0 ? '' : ','}${texts.join(',')}`
  }
  const rest = { ...(edges && { edges }), files, skipped, duration_ms: durationMs, ...further }
  yield `],${JSON.stringify(rest).slice(1)}\n`
}

/** A document that was printed before; its other keys are ignored. */
const Document = z.object({
  nodes: z.array(
    z.object({ ...NodeView.shape, path: CodeNode.shape.path }).transform((view): CodeNode => camelKeys(view)),
  ),
  skipped: z.array(SkippedFile),
})

/** Returns the nodes and skipped files of a document that `discoveryTexts` made. DISC_005 for any other text. */
export function parseDiscovery(text: string, file: string): z.infer<typeof Document> {
  const parsed = Document.safeParse(parseJson(text))
  if (parsed.success) return parsed.data
  throw new AppError('DISC_005', `${file} is no output of "remora discover --json"`, { cause: parsed.error })
}
