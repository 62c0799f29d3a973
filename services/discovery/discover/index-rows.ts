import type { IndexedNode, NodeIndex, ReadIndex } from './node-index.ts'

type Row = readonly [
  kind: string,
  name: string,
  qualifiedName: string,
  ordinal: number,
  parent: number | null,
  startLine: number,
  endLine: number,
  startByte: number,
  endByte: number,
  hash: string,
]

type Rows = { nodes: readonly Row[] } & Pick<ReadIndex, 'broken' | 'references'>

/** A node index as JSON without the names of its fields, which are half of it. For who writes and reads it himself. */
export function rowsText(index: NodeIndex): string {
  if ('skipped' in index) return JSON.stringify(index)
  const rows: Rows = { ...index, nodes: index.nodes.map(rowOf) }
  return JSON.stringify(rows)
}

/** The index that `rowsText` wrote; nothing is checked. */
export function indexOfRows(text: string): NodeIndex {
  const read: Rows | { skipped: string } = JSON.parse(text)
  return 'skipped' in read ? read : { ...read, nodes: read.nodes.map(nodeOf) }
}

function rowOf(node: IndexedNode): Row {
  const { kind, name, qualifiedName, ordinal, parent, startLine, endLine, startByte, endByte, hash } = node
  return [kind, name, qualifiedName, ordinal, parent, startLine, endLine, startByte, endByte, hash]
}

function nodeOf(row: Row): IndexedNode {
  const [kind, name, qualifiedName, ordinal, parent, startLine, endLine, startByte, endByte, hash] = row
  return { kind, name, qualifiedName, ordinal, parent, startLine, endLine, startByte, endByte, hash }
}
