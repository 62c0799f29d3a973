import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CodeNode, Edge, NodeEdge } from '#domain/code-node.ts'
import { nodeId, sha256 } from '#domain/ids.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { type EdgeListRef, type EdgeLists, type EdgeScan, openEdgeLists, putEdgeList } from './edge-list.ts'

let store: Awaited<ReturnType<typeof testObjects>>
let lists: EdgeLists
beforeEach(async () => {
  store = await testObjects()
  lists = openEdgeLists(store.objects)
})
afterEach(() => store.close())

function node(name: string): CodeNode {
  const place = { startLine: 3, endLine: 4, startByte: 0, endByte: 9, parentId: null, hash: sha256(name) }
  const names = { kind: 'function', name, qualifiedName: name, path: 'a.py', language: 'python' }
  return { nodeId: nodeId({ ...names, ordinal: 0 }), ...names, ...place }
}

const nodes = ['a', 'b', 'c', 'd', 'e'].map(node)
const [a, b, c, , e] = nodes.map((one) => one.nodeId)

function edge(from = '', to = '', over: Partial<Edge> = {}): Edge {
  return { from, to, kind: 'calls', certainty: 'exact', ...over }
}

/** In the order of `from`, then of `to`; `d` has none. */
const edges = [
  edge(a, b),
  edge(a, c, { kind: 'inherits' }),
  edge(b, a, { certainty: 'by_name' }),
  edge(c, b),
  edge(e, b, { kind: 'tests' }),
]

async function stored(pageLines: number): Promise<EdgeListRef> {
  const place = { projectId: store.project, runId: aNewRun().runId }
  return { ...place, hash: await putEdgeList(store.objects, place, { nodes, edges }, pageLines) }
}

async function scanned(ref: EdgeListRef, place: number, scan: Omit<EdgeScan, 'from'>): Promise<string[]> {
  const found: NodeEdge[] = []
  for (let from: number | null = 0; from !== null;) {
    const page = await lists.scan(ref, place, { ...scan, from })
    expect(page.edges.length).toBeLessThanOrEqual(scan.limit)
    found.push(...page.edges)
    from = page.next
  }
  return found.map((one) => `${one.direction} ${one.kind} ${one.certainty} ${one.node.qualifiedName}`)
}

const ofB = ['out calls by_name a', 'in calls exact a', 'in calls exact c', 'in tests exact e']

describe('a list of edges', () => {
  it.for([1, 2, 3, 100])('gives those of each node, out first, in pages of %i', async (pageLines) => {
    const ref = await stored(pageLines)
    for (const limit of [1, 2, 100]) {
      expect(await scanned(ref, 0, { limit })).toEqual([
        'out calls exact b',
        'out inherits exact c',
        'in calls by_name b',
      ])
      expect(await scanned(ref, 1, { limit })).toEqual(ofB)
      expect(await scanned(ref, 3, { limit })).toEqual([])
      expect(await scanned(ref, 4, { limit })).toEqual(['out tests exact b'])
    }
  })

  it('tells of the other node what it takes to find it', async () => {
    const { edges: found } = await lists.scan(await stored(100), 4, { from: 0, limit: 1 })
    const other = { nodeId: b, kind: 'function', qualifiedName: 'b', path: 'a.py', startLine: 3, endLine: 4 }
    expect(found).toEqual([{ direction: 'out', kind: 'tests', certainty: 'exact', node: other }])
  })

  it.for([
    [{ direction: 'out' }, ofB.slice(0, 1)],
    [{ direction: 'in' }, ofB.slice(1)],
    [{ kind: 'calls' }, ofB.slice(0, 3)],
    [{ direction: 'in', kind: 'tests' }, ofB.slice(3)],
    [{ direction: 'out', kind: 'tests' }, []],
  ] as const)('gives those of a direction and a kind: %o', async ([filters, found]) => {
    const ref = await stored(2)
    for (const limit of [1, 100]) expect(await scanned(ref, 1, { ...filters, limit })).toEqual(found)
  })

  it('counts those of a node', async () => {
    const ref = await stored(2)
    const counts = await Promise.all(nodes.map((_, place) => lists.counts(ref, place)))
    expect(counts).toEqual([
      { out: 2, in: 1 },
      { out: 1, in: 3 },
      { out: 1, in: 1 },
      { out: 0, in: 0 },
      { out: 1, in: 0 },
    ])
  })

  it('looks through a bounded part of what thousands do with a node at a time', async () => {
    const callers = Array.from({ length: 20 }, (_, at) => node(`f${at}`))
    const place = { projectId: store.project, runId: aNewRun().runId }
    const all = { nodes: [...nodes, ...callers], edges: callers.map((caller) => edge(caller.nodeId, a)) }
    const ref = { ...place, hash: await putEdgeList(store.objects, place, all, 1) }
    expect(await lists.scan(ref, 0, { kind: 'tests', from: 0, limit: 10 })).toEqual({ edges: [], next: 8 })
    expect(await scanned(ref, 0, { kind: 'tests', limit: 10 })).toEqual([])
    expect(await scanned(ref, 0, { limit: 7 })).toHaveLength(20)
  })

  it('of nothing counts nothing', async () => {
    const place = { projectId: store.project, runId: aNewRun().runId }
    const ref = { ...place, hash: await putEdgeList(store.objects, place, { nodes, edges: [] }) }
    expect(await lists.counts(ref, 2)).toEqual({ out: 0, in: 0 })
    expect(await lists.scan(ref, 2, { from: 0, limit: 5 })).toEqual({ edges: [], next: null })
  })

  it('is refused as STORE_003 when a page holds something else, or a place is none of it', async () => {
    const ref = await stored(100)
    const objects = await Array.fromAsync(store.objects.list(`projects/${store.project}/`))
    const page = objects.find(({ key }) => key.endsWith('.jsonl'))
    await store.objects.put(page?.key ?? '', '[]\n')
    await expect(lists.scan(ref, 0, { from: 0, limit: 5 })).rejects.toMatchObject({ code: 'STORE_003' })
    await expect(lists.counts(ref, 5)).rejects.toMatchObject({ code: 'STORE_003' })
  })
})
