import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { CodeNode } from '#domain/code-node.ts'
import { nodeId, sha256 } from '#domain/ids.ts'
import { aNewRun } from '#testing/open-test-ledger.ts'
import { testObjects } from '#testing/s3.ts'
import { type NodeListRef, type NodeLists, type NodeScan, openNodeLists, putNodeList } from './node-list.ts'
import { objectKeys } from './object-keys.ts'

let store: Awaited<ReturnType<typeof testObjects>>
let lists: NodeLists
beforeEach(async () => {
  store = await testObjects()
  lists = openNodeLists(store.objects)
})
afterEach(() => store.close())

function node(path: string, name: string, at: number, over: Partial<CodeNode> = {}): CodeNode {
  const kind = over.kind ?? 'function'
  const id = nodeId({ path, kind, qualifiedName: name, ordinal: 0 })
  const place = { startLine: at + 1, endLine: at + 1, startByte: at * 10, endByte: at * 10 + 9 }
  const names = { kind, name, qualifiedName: name, path, language: 'python', parentId: null }
  return { nodeId: id, ...names, ...place, hash: sha256(name), ...over }
}

/** A file of `functions` functions, two bytes between them. */
function fileOf(path: string, functions: number): CodeNode[] {
  const file = node(path, path, 0, { kind: 'file', endByte: functions * 10 })
  const inside = Array.from({ length: functions }, (_, at) => node(path, `f${at}`, at, { parentId: file.nodeId }))
  return [file, ...inside]
}

async function stored(nodes: readonly CodeNode[], pageNodes: number): Promise<NodeListRef> {
  const place = { projectId: store.project, runId: aNewRun().runId }
  return { ...place, hash: await putNodeList(store.objects, place, { nodes, skipped: [] }, pageNodes) }
}

async function scanned(ref: NodeListRef, scan: Omit<NodeScan, 'from'>) {
  const found: CodeNode[] = []
  let asked = 0
  for (let from: number | null = 0; from !== null;) {
    const page = await lists.scan(ref, { ...scan, from })
    expect(page.nodes.length).toBeLessThanOrEqual(scan.limit)
    found.push(...page.nodes)
    from = page.next
    asked++
  }
  return { found, asked }
}

const tree = ['a.py', 'b/c.py', 'b/d.py', 'e.py'].flatMap((path) => fileOf(path, 7))

describe('a list of nodes', () => {
  it.for([1, 5, 8, 31, 32, 33, 100])('gives all of them in order, in pages of %i', async (limit) => {
    const ref = await stored(tree, 5)
    expect((await scanned(ref, { limit })).found).toEqual(tree)
    expect(await Array.fromAsync(lists.all(ref))).toEqual(tree)
  })

  it('of no nodes has one empty page', async () => {
    const ref = await stored([], 5)
    expect(await lists.scan(ref, { from: 0, limit: 5 })).toEqual({ nodes: [], next: null })
    expect(await lists.find(ref, 'n0000000000000000')).toBeUndefined()
  })

  it.for([
    [{ kind: 'file' }, (one: CodeNode) => one.kind === 'file'],
    [{ language: 'python' }, () => true],
    [{ language: 'go' }, () => false],
    [{ path: 'b' }, (one: CodeNode) => one.path.startsWith('b/')],
    [{ path: './b//d.py' }, (one: CodeNode) => one.path === 'b/d.py'],
    [{ path: '**/[cd].py', kind: 'function' }, (one: CodeNode) => one.path.startsWith('b/') && one.kind !== 'file'],
    [{ path: 'e.p' }, () => false],
  ] as const)('gives those that a filter passes: %o', async ([filters, wanted]) => {
    const ref = await stored(tree, 5)
    expect((await scanned(ref, { ...filters, limit: 3 })).found).toEqual(tree.filter(wanted))
  })

  it('is not taken in by a name that looks like a field', async () => {
    const liar = node('a.py', '","kind":"class"', 0)
    const ref = await stored([liar], 5)
    expect((await scanned(ref, { kind: 'class', limit: 3 })).found).toEqual([])
    expect((await scanned(ref, { kind: 'function', limit: 3 })).found).toEqual([liar])
  })

  it('looks through a bounded part of itself at a time', async () => {
    const ref = await stored(tree, 1)
    const { found, asked } = await scanned(ref, { kind: 'class', limit: 10 })
    expect(found).toEqual([])
    expect(asked).toBe(4) // 32 pages, 8 at a time
  })

  it('finds each node by its id with what is directly inside it, in a few reads', async () => {
    const nested = fileOf('z.py', 2)
    const [file, outer] = nested
    if (file === undefined || outer === undefined) throw new Error('no file')
    const inner = node('z.py', 'inner', 0, { parentId: outer.nodeId, startByte: 4 })
    const nodes = [...tree, file, outer, inner, ...nested.slice(2)]
    const ref = await stored(nodes, 5)
    for (const [place, one] of nodes.entries()) {
      const children = nodes.filter(({ parentId }) => parentId === one.nodeId).map((child) => child.nodeId)
      expect(await lists.find(ref, one.nodeId)).toEqual({ node: one, place, children })
      expect(await lists.place(ref, one.nodeId)).toBe(place)
    }
    expect(await lists.find(ref, 'n0000000000000000')).toBeUndefined()
    expect(await lists.find(ref, 'nffffffffffffffff')).toBeUndefined()
  })

  it('finds ids in a list of more than one range of them', async () => {
    const many = fileOf('many.py', 5_000)
    const ref = await stored(many, 2_000)
    for (const at of [0, 1, 1_999, 2_000, 4_321, 5_000]) {
      const one = many[at]
      expect((await lists.find(ref, one?.nodeId ?? ''))?.node).toEqual(one)
    }
  })

  it('is the same object when the same nodes are stored again', async () => {
    const place = { projectId: store.project, runId: aNewRun().runId }
    const found = { nodes: tree, skipped: [{ path: 'x', reason: 'excluded' }] }
    const hash = await putNodeList(store.objects, place, found)
    const keys = async () =>
      (await Array.fromAsync(store.objects.list(`projects/${store.project}/`))).map(({ key }) => key)
    const before = await keys()
    expect(await putNodeList(store.objects, place, found)).toBe(hash)
    expect(await keys()).toEqual(before)
    expect(await lists.read({ ...place, hash })).toMatchObject({ nodes: 32, skipped: 1, skippedFiles: found.skipped })
  })

  it('is refused as STORE_003 when a page is gone or holds something else', async () => {
    const ref = await stored(tree, 100)
    const [page] = (await lists.read(ref)).pages
    const key = objectKeys.nodePage(ref.projectId, ref.runId, page?.hash ?? '')
    await store.objects.put(key, '{}\n')
    await expect(lists.scan(ref, { from: 0, limit: 5 })).rejects.toMatchObject({ code: 'STORE_003' })
    await store.objects.delete(key)
    await expect(openNodeLists(store.objects).scan(ref, { from: 0, limit: 5 })).rejects.toMatchObject({
      code: 'STORE_003',
    })
  })
})
