import { afterEach, describe, expect, it } from 'vitest'
import type { ParseResult } from './parse-pool.ts'
import { type ParsePool, openParsePool } from './parse-pool.ts'
import { loadQueryPacks, type QueryPack } from './query-pack.ts'

const opened: ParsePool[] = []
afterEach(async () => {
  await Promise.all(opened.splice(0).map((pool) => pool.close()))
})

function open(options: Parameters<typeof openParsePool>[0]): ParsePool {
  const pool = openParsePool(options)
  opened.push(pool)
  return pool
}

async function pythonPack(): Promise<QueryPack> {
  const pack = (await loadQueryPacks()).get('python')
  if (pack === undefined) throw new Error('no python pack')
  return pack
}

/** A pack whose predicate never ends on a name of many `a`s and a `b`: an example of a bad user pack that blocks a thread. */
async function endlessPack(): Promise<QueryPack> {
  const pack = await pythonPack()
  const text = '((function_definition name: (identifier) @f.name) @f.def (#match? @f.name "^(a+)+$"))'
  return { ...pack, hash: 'endless', files: [{ path: 'endless.scm', text }] }
}

function names(result: ParseResult | undefined): string[] {
  if (result?.kind !== 'indexed' || !('nodes' in result.index)) return [JSON.stringify(result)]
  return result.index.nodes.slice(1).map((node) => node.qualifiedName)
}

const source = (text: string) => Buffer.from(text)

describe('openParsePool', () => {
  it('leaves the bytes it was given as they were', async () => {
    const bytes = source('def f(): pass\n')
    await open({ threads: 1 }).parse([{ content: bytes, pack: await pythonPack() }])
    expect(bytes.toString()).toBe('def f(): pass\n')
  })

  it('reports the one file a thread died on and still parses the others', async () => {
    const pack = await endlessPack()
    const pool = open({ threads: 1, fileLimitMs: 300 })
    const texts = ['def aa(): pass\n', `def ${'a'.repeat(60)}b(): pass\n`, 'def aaa(): pass\n']
    const results = await pool.parse(texts.map((text) => ({ content: source(text), pack })))
    expect([names(results[0]), names(results[2])]).toEqual([['aa'], ['aaa']])
    expect(results[1]).toEqual({
      kind: 'unreadable',
      reason: expect.stringContaining('DISC_005: parsing took longer than'),
    })
  })

  it('throws the fault of a pack, and goes on with the next one', async () => {
    const pack = await pythonPack()
    const broken: QueryPack = { ...pack, hash: 'broken', files: [{ path: 'b.scm', text: '(oops' }] }
    const pool = open({ threads: 1 })
    await expect(pool.parse([{ content: source('x'), pack: broken }])).rejects.toMatchObject({ code: 'DISC_002' })
    const results = await pool.parse([{ content: source('def f(): pass'), pack }])
    expect(names(results[0])).toEqual(['f'])
  })
})
