import { describe, expect, it } from 'vitest'
import { languageOf } from '#languages/syntax/grammars.ts'
import type { CodeNode } from '#domain/code-node.ts'
import { codeNodesOf } from '../node-index.ts'
import { compileNodeQuery, indexNodes, type NodeQuery } from '../node-query.ts'
import { loadQueryPacks } from '../query-pack.ts'
import { linkEdges } from './link-edges.ts'
import { isModuleFile } from './module-map.ts'
import type { Reference } from './find-references.ts'

type Sources = Readonly<Record<string, string>>

/** Sources as path → text with their edges as `kind path#name -> path#name`, where `~` marks those by name. */
type EdgeCase = [name: string, sources: Sources, edges: string[]]

/** Tests the edges of each case, whatever order its files come in. */
export function describeEdges(language: string, cases: readonly EdgeCase[]): void {
  describe(`edges of ${language}`, async () => {
    const queries = await referenceQueries()

    it.each(cases)('%s', async (_name, sources, edges) => {
      expect(await edgesOf(sources, queries)).toEqual(edges)
      const turned = Object.fromEntries(Object.entries(sources).toReversed())
      expect(await edgesOf(turned, queries)).toEqual(edges)
    })
  })
}

async function referenceQueries(): Promise<Map<string, NodeQuery>> {
  const packs = await loadQueryPacks({ references: true })
  const queries = new Map<string, NodeQuery>()
  for (const language of ['python', 'typescript', 'tsx', 'javascript', 'go']) {
    const pack = packs.get(language)
    if (pack !== undefined) queries.set(language, await compileNodeQuery(pack))
  }
  return queries
}

async function edgesOf(sources: Sources, queries: ReadonlyMap<string, NodeQuery>): Promise<string[]> {
  const nodes: CodeNode[] = []
  const references = new Map<string, readonly Reference[]>()
  for (const [path, text] of Object.entries(sources)) {
    const language = languageOf(path) ?? 'unknown'
    const index = indexNodes(Buffer.from(text), queries.get(language))
    nodes.push(...codeNodesOf(path, language, index.nodes))
    references.set(path, index.references ?? [])
  }
  const moduleFiles = new Map(Object.entries(sources).filter(([path]) => isModuleFile(path)))
  const named = new Map(nodes.map((node) => [node.nodeId, nameOf(node)]))
  const edges = await linkEdges({ paths: Object.keys(sources), nodes, references, moduleFiles })
  return edges
    .map(({ from, to, kind, certainty }) => {
      const mark = certainty === 'by_name' ? ' ~' : ''
      return `${kind} ${named.get(from)} -> ${named.get(to)}${mark}`
    })
    .toSorted()
}

function nameOf({ path, kind, qualifiedName }: CodeNode): string {
  return kind === 'file' ? path : `${path}#${qualifiedName}`
}
