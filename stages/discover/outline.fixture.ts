import type { CodeNode } from '#domain/code-node.ts'
import { codeNodesOf } from './node-index.ts'
import { compileNodeQuery, indexNodes, type NodeQuery } from './node-query.ts'
import { loadQueryPacks } from './query-pack.ts'

export function nodesOfFile(file: { path: string; bytes: Uint8Array; language: string; query: NodeQuery }): CodeNode[] {
  return codeNodesOf(file.path, file.language, indexNodes(file.bytes, file.query).nodes)
}

export type Outline = {
  query: NodeQuery
  nodesOf(source: string | Uint8Array): CodeNode[]
  /** `kind qualified.name first-last line` of every node but the file, in source order. */
  of(source: string | Uint8Array): string[]
}

/** What the built-in pack of a language finds in one file. */
export async function openOutline(language: string): Promise<Outline> {
  const pack = (await loadQueryPacks()).get(language)
  if (pack === undefined) throw new Error(`no ${language} pack`)
  const query = await compileNodeQuery(pack)
  const nodesOf = (source: string | Uint8Array) => {
    const bytes = typeof source === 'string' ? new TextEncoder().encode(source) : source
    return nodesOfFile({ path: 'pkg/mod', bytes, language, query })
  }
  const of = (source: string | Uint8Array) => {
    const inside = nodesOf(source).filter((node) => node.kind !== 'file')
    return inside.map((node) => `${node.kind} ${node.qualifiedName} ${node.startLine}-${node.endLine}`)
  }
  return { query, nodesOf, of }
}
