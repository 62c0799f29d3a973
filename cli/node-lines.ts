import type { NodeView } from '#domain/node-view.ts'
import { visibleName } from './visible.ts'

/** A line for each file, and under it one for each node in it. Nodes come sorted by path. */
export function nodeLines(nodes: readonly NodeView[]): string[] {
  const lines: string[] = []
  let file = ''
  for (const node of nodes) {
    if (node.path !== file) lines.push(visibleName((file = node.path)))
    const range = `${node.start_line}-${node.end_line}`
    if (node.kind !== 'file') lines.push(`  ${range.padEnd(11)} ${node.kind.padEnd(10)} ${node.qualified_name}`)
  }
  return lines
}
