import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { sha256 } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import type { DiscoveryFilters } from './choose-files.ts'
import { type DiscoveryDeps, discoverNodes } from './discover-nodes.ts'
import { type IndexCache, indexName } from './index-blobs.ts'
import { NodeIndex } from './node-index.ts'
import { openParsePool } from './parse-pool.ts'
import { loadQueryPacks } from './query-pack.ts'

let deps: DiscoveryDeps
const never = new AbortController().signal

beforeAll(async () => {
  deps = { pool: openParsePool({ threads: 2 }), packs: await loadQueryPacks() }
})
afterAll(() => deps.pool.close())

/** Discovers a tree of texts; `lost` names the paths whose content cannot be read. */
function discover(
  tree: Record<string, string>,
  options: {
    filters?: DiscoveryFilters
    cache?: IndexCache
    lost?: string[]
    signal?: AbortSignal
    packs?: DiscoveryDeps['packs']
  } = {},
) {
  const contents = new Map(Object.values(tree).map((text) => [sha256(text), Buffer.from(text)]))
  const lost = new Set(options.lost?.map((path) => sha256(tree[path] ?? '')))
  const read = async (hash: string) => {
    const bytes = contents.get(hash)
    if (bytes === undefined || lost.has(hash)) throw new AppError('DISC_005', 'it is gone')
    return bytes
  }
  const files = Object.entries(tree).map(([path, text]) => ({ path, hash: sha256(text), size: text.length }))
  const { filters = {}, cache, packs = deps.packs } = options
  const input = { files, read, filters, ...(cache ? { cache } : {}) }
  return discoverNodes(input, { ...deps, packs }, options.signal ?? never)
}

function memoryCache(): IndexCache & { entries: Map<string, string> } {
  const entries = new Map<string, string>()
  return {
    entries,
    get: async (blob) => NodeIndex.safeParse(parseJson(entries.get(indexName(blob)) ?? '')).data,
    put: async (blob, index) => void entries.set(indexName(blob), index),
  }
}

const tree = {
  'b.py': 'class B:\n    def m(self): pass\n',
  'a/z.py': 'def f(): pass\n',
  'a/copy.py': 'def f(): pass\n',
  'notes.xyz': 'no language\n',
  'gen.py': '# @generated\ndef g(): pass\n',
  'x.bin': '\0\0',
}

describe('discoverNodes', () => {
  it('lists nodes by path and position, with a file node for an unknown language and a reason for each file left out', async () => {
    const { nodes, files, skipped, parsed } = await discover(tree)
    expect(nodes.map((node) => `${node.path} ${node.kind} ${node.name} ${node.language}`)).toEqual([
      'a/copy.py file copy.py python',
      'a/copy.py function f python',
      'a/z.py file z.py python',
      'a/z.py function f python',
      'b.py file b.py python',
      'b.py class B python',
      'b.py method m python',
      'notes.xyz file notes.xyz unknown',
    ])
    expect(skipped.map(({ path }) => path)).toEqual(['gen.py', 'x.bin'])
    expect({ files, parsed }).toEqual({ files: 4, parsed: 5 })
  })

  it('leaves out a definition that does not parse, and says so', async () => {
    const broken = 'class C:\n    def fine(self): pass\n\n    def torn(:\n        return 1\n\n\ndef whole(): pass\n'
    const { nodes, skipped } = await discover({ 'c.py': broken })
    expect(nodes.map((node) => node.qualifiedName)).toEqual(['c.py', 'C', 'C.fine', 'whole'])
    expect(skipped).toEqual([{ path: 'c.py', reason: 'does not parse: C.torn' }])
  })

  it('finds the same from the cache, and parses only what changed', async () => {
    const cache = memoryCache()
    const first = await discover(tree, { cache })
    const again = await discover(tree, { cache })
    expect([again.nodes, again.skipped, again.parsed]).toEqual([first.nodes, first.skipped, 0])
    const changed = await discover({ ...tree, 'b.py': 'class C: pass\n' }, { cache })
    expect(changed.parsed).toBe(1)
  })

  it('keeps in the cache what a file holds and why it may be skipped, whatever was included when it was read', async () => {
    const generated = { ...tree, 'm.py': 'revision = "1"\ndown_revision = None\n' }
    const include = ['generated', 'migrations'] as const
    const fresh = { closed: await discover(generated), open: await discover(generated, { filters: { include } }) }
    expect(fresh.closed.skipped.map(({ path }) => path)).toEqual(['gen.py', 'm.py', 'x.bin'])
    expect(fresh.open.skipped.map(({ path }) => path)).toEqual(['x.bin'])
    const cache = memoryCache()
    for (const { filters, expected, parsed } of [
      { filters: {}, expected: fresh.closed, parsed: 6 },
      { filters: { include }, expected: fresh.open, parsed: 2 },
      { filters: { include }, expected: fresh.open, parsed: 0 },
      { filters: {}, expected: fresh.closed, parsed: 0 },
    ]) {
      const found = await discover(generated, { cache, filters })
      expect([found.nodes, found.skipped, found.parsed]).toEqual([expected.nodes, expected.skipped, parsed])
    }
  })

  it('reads one content at a path that opens it and not at another', async () => {
    const { nodes, skipped } = await discover({
      '.gitattributes': 'ours.py -linguist-generated\nold.py ident\n',
      'ours.py': '# @generated\ndef g(): pass\n',
      'theirs.py': '# @generated\ndef g(): pass\n',
      'old.py': '# $Id$\n',
      'new.py': '# $Id$\n',
    })
    expect([...new Set(nodes.map(({ path }) => path))]).toEqual(['new.py', 'ours.py'])
    expect(skipped.filter(({ path }) => path.endsWith('.py'))).toEqual([
      { path: 'old.py', reason: 'git rewrites $Id$ in it, so that a patch would not apply' },
      { path: 'theirs.py', reason: 'generated: its first lines say so' },
    ])
  })

  it('keeps what it knows with references apart from what it knows without, under names of one length', async () => {
    const cache = memoryCache()
    const python = { 'm.py': 'def f(): pass\n' }
    await discover(python, { cache })
    const packs = await loadQueryPacks({ references: true })
    const first = await discover(python, { cache, packs })
    const again = await discover(python, { cache, packs })
    expect([first.parsed, again.parsed]).toEqual([1, 0])
    expect([...cache.entries.keys()]).toHaveLength(2)
    for (const key of cache.entries.keys()) expect(key).toMatch(/^[0-9a-f]{64}\.python\.[0-9a-f]{64}$/)
  })

  it('parses again what the cache holds in a shape it does not know', async () => {
    const cache = memoryCache()
    await discover(tree, { cache })
    for (const key of cache.entries.keys()) cache.entries.set(key, '{"nodes":[{"kind":1}]}')
    expect((await discover(tree, { cache })).parsed).toBe(5)
  })

  it('skips a file that cannot be read and keeps the rest', async () => {
    const { nodes, skipped } = await discover({ 'a.py': 'x = 1\n', 'b.py': 'y = 1\n' }, { lost: ['a.py'] })
    expect(nodes.map((node) => node.path)).toEqual(['b.py'])
    expect(skipped).toEqual([{ path: 'a.py', reason: 'DISC_005: it is gone' }])
  })

  it('refuses filters that nothing could match', async () => {
    await expect(discover(tree, { filters: { languages: ['klingon'] } })).rejects.toMatchObject({ code: 'DISC_003' })
    await expect(discover(tree, { filters: { nodeKinds: ['verse'] } })).rejects.toMatchObject({ code: 'RUN_002' })
  })

  it('stops with the reason of an abort', async () => {
    const signal = AbortSignal.abort(new AppError('AGENT_010', 'cancelled'))
    await expect(discover(tree, { signal })).rejects.toMatchObject({ code: 'AGENT_010' })
  })

  it('leaves the event loop free while files are parsed', async () => {
    const big = 'def f():\n    return [1, 2, 3]\n'.repeat(6000)
    const trees = Object.fromEntries(Array.from({ length: 8 }, (_, at) => [`m${at}.py`, `x = ${at}\n${big}`]))
    let turns = 0
    let running = true
    const spin = () => {
      turns++
      if (running) setImmediate(spin)
    }
    spin()
    const { durationMs } = await discover(trees)
    running = false
    expect(turns).toBeGreaterThan(durationMs / 10)
  })
})
