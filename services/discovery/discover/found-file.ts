import type { CodeNode } from '#domain/code-node.ts'
import type { Reference } from './edges/reference.ts'
import type { QueryPack } from './query-pack.ts'
import { markReasons, type ContentMark } from './unwanted/unwanted-content.ts'

/** What discovery knows of the file at a path, whatever it was asked to include. */
export type FoundFile = ReadFile | { skipped: string; marks?: ContentMark[] | undefined }

export type ReadFile = {
  nodes: readonly CodeNode[]
  /** What does not parse: the definitions that hold it, by qualified name, which are no nodes; else the first line. */
  broken: readonly string[]
  references: readonly Reference[]
  marks?: ContentMark[] | undefined
}

/** What an earlier discovery of the same tree found, for files that are as they were then. */
export type KnownFiles = {
  get(path: string, pack: QueryPack | undefined): FoundFile | undefined
  put(path: string, pack: QueryPack | undefined, found: FoundFile): void
}

type Marked = { skipped: string; marks?: ContentMark[] | undefined } | { marks?: ContentMark[] | undefined }

/** Whether all for which a content was skipped is admitted now, so that it has to be read after all. */
export function isToBeRead(found: Marked, admitted: readonly ContentMark[]): boolean {
  const { marks = [] } = found
  return 'skipped' in found && marks.length > 0 && marks.every((mark) => admitted.includes(mark))
}

/** The file as one sees it who admits these marks: a file with another one is skipped. */
export function asAdmitted(file: FoundFile, admitted: readonly ContentMark[]): FoundFile {
  const refused = file.marks?.find((mark) => !admitted.includes(mark))
  return refused === undefined ? file : { skipped: markReasons[refused], marks: file.marks }
}

type Row = readonly [
  nodeId: string,
  kind: string,
  name: string,
  qualifiedName: string,
  parentId: string | null,
  startLine: number,
  endLine: number,
  startByte: number,
  endByte: number,
  hash: string,
]

type Rows = Omit<ReadFile, 'nodes'> & { language: string; rows: readonly Row[] }

/** A file as JSON without the names of a node's fields, which are half of it. For who writes and reads it himself. */
export function foundFileText(found: FoundFile): string {
  if ('skipped' in found) return JSON.stringify(found)
  const { nodes, ...rest } = found
  const rows: Rows = { ...rest, language: nodes[0]?.language ?? '', rows: nodes.map(rowOf) }
  return JSON.stringify(rows)
}

/** The file at `path` as `foundFileText` wrote it; nothing is checked. */
export function parseFoundFile(path: string, text: string): FoundFile {
  const read: Rows | Extract<FoundFile, { skipped: string }> = JSON.parse(text)
  if ('skipped' in read) return read
  const { rows, language, ...rest } = read
  return { ...rest, nodes: rows.map((row) => nodeOf(row, path, language)) }
}

function rowOf(node: CodeNode): Row {
  const { nodeId, kind, name, qualifiedName, parentId, startLine, endLine, startByte, endByte, hash } = node
  return [nodeId, kind, name, qualifiedName, parentId, startLine, endLine, startByte, endByte, hash]
}

function nodeOf(row: Row, path: string, language: string): CodeNode {
  const [nodeId, kind, name, qualifiedName, parentId, startLine, endLine, startByte, endByte, hash] = row
  return { nodeId, kind, name, qualifiedName, path, language, startLine, endLine, startByte, endByte, parentId, hash }
}
