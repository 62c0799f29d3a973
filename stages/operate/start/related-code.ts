import type { CodeNode, EdgeDirection, EdgeKind, NodeEdge } from '#domain/code-node.ts'
import type { CodeExcerpt, RelatedCode } from '../context/render-context.ts'
import { relationWords } from '../tools/externals/related-nodes.ts'
import { unlessRefused, type Workspace } from '../workspace/open-workspace.ts'

/** Shows the signature and docstring of code that the node needs; of code that needs the node, little more than its name. */
const shownLines: Record<EdgeDirection, number> = { out: 8, in: 4 }
const maxLineLength = 160
const kinds: readonly EdgeKind[] = ['inherits', 'calls', 'tests', 'imports']

type Around = Pick<CodeNode, 'path' | 'language' | 'startLine' | 'endLine'>

/** Lists edges to code worth showing, closest first, one for each node: what it needs, then what needs it, exact before found by name. No files, nothing inside. */
export function closestEdges(node: Around, edges: readonly NodeEdge[]): NodeEdge[] {
  const rankOf = ({ direction, kind, certainty }: NodeEdge) =>
    (direction === 'in' ? 100 : 0) + kinds.indexOf(kind) * 10 + (certainty === 'exact' ? 0 : 1)
  const ranked = edges.filter((edge) => edge.node.kind !== 'file' && !isInside(node, edge))
  const closest = new Map<string, NodeEdge>()
  for (const edge of ranked.toSorted((left, right) => rankOf(left) - rankOf(right))) {
    if (!closest.has(edge.node.nodeId)) closest.set(edge.node.nodeId, edge)
  }
  return [...closest.values()]
}

function isInside({ path, startLine, endLine }: Around, { node }: NodeEdge): boolean {
  return node.path === path && node.startLine >= startLine && node.endLine <= endLine
}

/** The first lines of the code at the other end of these edges, up to about `maxCharacters`, without files that are no text. */
export async function relatedCode(
  { language }: Around,
  edges: readonly NodeEdge[],
  workspace: Pick<Workspace, 'readText'>,
  maxCharacters: number,
): Promise<RelatedCode> {
  const excerpts: CodeExcerpt[] = []
  let [read, left] = [0, maxCharacters]
  for (const edge of edges) {
    if (left <= 0) break
    read += 1
    const text = await excerptOf(edge, workspace)
    if (text === undefined) continue
    const { kind, qualifiedName, path, startLine } = edge.node
    const what = `${relationWords[edge.direction][edge.kind]} ${kind} ${qualifiedName} (${path}:${startLine})`
    excerpts.push({ what, language, text })
    left -= what.length + text.length
  }
  return { excerpts, more: edges.length - read }
}

async function excerptOf(
  { direction, node }: NodeEdge,
  workspace: Pick<Workspace, 'readText'>,
): Promise<string | undefined> {
  const text = await unlessRefused(workspace.readText(node.path))
  return text && firstLines(text.split('\n', node.endLine).slice(node.startLine - 1), shownLines[direction])
}

function firstLines(lines: readonly string[], max: number): string {
  const texts = lines.map((line) => line.trimEnd()).filter((line) => line !== '')
  const indents = texts.map((line) => line.length - line.trimStart().length)
  const indent = Math.min(...indents.slice(0, max))
  const shown = texts.slice(0, max).map((line) => {
    const text = line.slice(indent)
    return text.length <= maxLineLength ? text : `${text.slice(0, maxLineLength - 1)}…`
  })
  if (texts.length <= max) return shown.join('\n')
  const margin = ' '.repeat(Math.max(0, (indents[max] ?? indent) - indent))
  return [...shown, `${margin}…`].join('\n')
}
