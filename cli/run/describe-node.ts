import type { EdgeView } from '../api-views.ts'
import { nodePlace } from '../node-place.ts'
import type { NodeWithEdges } from './find-node.ts'

/** Of each direction and kind, in the order they are told. */
const headings = [
  ['out', 'imports', 'imports'],
  ['out', 'calls', 'calls'],
  ['out', 'inherits', 'inherits from'],
  ['out', 'tests', 'tests'],
  ['in', 'imports', 'imported by'],
  ['in', 'calls', 'called by'],
  ['in', 'inherits', 'inherited by'],
  ['in', 'tests', 'tested by'],
] as const

/** Of one kind; `--json` has all. */
const mostShown = 50

/** A node and its edges for a person, a block for each kind of edge that it has. */
export function describeNode({ node, edges }: NodeWithEdges): string {
  const { path, kind, language, qualified_name: name, start_line: first, end_line: last, node_id: id } = node
  const operations = node.operations.map(({ agent, status }) => `${agent} ${status}`)
  const rows = [
    ['node', nodePlace(path, name)],
    ['id', id],
    ['kind', `${kind}, ${language}, lines ${first}-${last}`],
    ['operations', operations.join(', ')],
    ['edges', edges === undefined ? 'not stored: an earlier version of Remora found the node' : countsOf(edges)],
  ]
  const lines = rows.flatMap(([label = '', value = '']) => (value === '' ? [] : [`${label.padEnd(11)} ${value}`]))
  for (const [direction, edgeKind, heading] of headings) {
    const such = (edges ?? []).filter((edge) => edge.direction === direction && edge.kind === edgeKind)
    if (such.length === 0) continue
    lines.push('', heading, ...such.slice(0, mostShown).map(edgeLine))
    if (such.length > mostShown) lines.push(`  … and ${such.length - mostShown} more: --json lists all`)
  }
  return lines.join('\n')
}

function countsOf(edges: readonly EdgeView[]): string {
  const out = edges.filter((edge) => edge.direction === 'out').length
  return `${out} out, ${edges.length - out} in`
}

function edgeLine({ node, certainty }: EdgeView): string {
  const lines = `${node.start_line}-${node.end_line}`
  return `  ${lines.padEnd(11)} ${nodePlace(node.path, node.qualified_name)}${certainty === 'by_name' ? '  (by name)' : ''}`
}
