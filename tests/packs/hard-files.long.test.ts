import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { draws, testSeed } from '#testing/fast-check.ts'
import { languages } from '#languages/syntax/grammars.ts'
import { type HardSource, hardSources, soundSource } from './hard-source.fixture.ts'
import type { ParseResult } from '#stages/discover/parse-pool.ts'
import { openParsePool, type ParsePool } from '#stages/discover/parse-pool.ts'
import { loadQueryPacks, type QueryPack } from '#stages/discover/query-pack.ts'

const hardness = {
  depth: draws(10_000),
  definitions: draws(1_000),
  nameLength: draws(1_000_000),
  lineLength: draws(3_000_000),
  noise: draws(10_000),
  seed: testSeed,
}

let packs: ReadonlyMap<string, QueryPack>
/** With a shorter limit than is usual, since some files are here to overrun it. */
let hasty: ParsePool
let patient: ParsePool

beforeAll(async () => {
  packs = await loadQueryPacks()
  hasty = openParsePool({ threads: 2, fileLimitMs: 1_000 })
  patient = openParsePool({ threads: 1 })
})
afterAll(() => Promise.all([hasty.close(), patient.close()]))

const job = (language: string, text: string) => ({ content: Buffer.from(text), pack: packs.get(language) })

/** Names of what was found in a file, or why it was not looked at. */
function outcome(result: ParseResult | undefined): string[] {
  if (result === undefined) return ['no result']
  if (result.kind === 'unreadable') return [result.reason]
  if ('skipped' in result.index) return [result.index.skipped]
  return result.index.nodes.slice(1).map((node) => node.qualifiedName)
}

describe(`hard files (REMORA_TEST_SEED=${testSeed})`, () => {
  it.each(languages)(
    'of %s are indexed, skipped or reported, and cost no other file anything',
    async (language) => {
      const sources = hardSources(language, hardness)
      const sound = job(language, soundSource(language, 'sound'))
      const [alone] = await hasty.parse([sound])
      expect(outcome(alone).join()).toContain('sound')
      const parse = async ({ name, text }: HardSource) => {
        const [before, hard, after] = await hasty.parse([sound, job(language, text), sound])
        expect.soft([before, after], `beside ${name}`).toEqual([alone, alone])
        expect.soft(hard?.kind === 'unreadable' ? hard.reason : hard?.kind, name).toMatch(/^DISC_005: |^indexed$/)
      }
      await Promise.all(sources.map(parse))
    },
    120_000,
  )

  it.each([
    ['comments before a definition', 'rust', '// a\n'.repeat(40_000) + '#[a]\nfn f() {}\n', 'f'],
    ['definitions that do not parse', 'python', 'def f():\n  x = = 1\n'.repeat(10_000) + 'def g(): pass\n', 'g'],
    ['a name without end', 'typescript', `class ${'A'.repeat(9e5)} {${'f() {}\n'.repeat(9e3)}}`, `${'A'.repeat(1e3)}…`],
    ['definitions in one another', 'typescript', 'function f() {\n'.repeat(10_000) + '}\n'.repeat(10_000), 'f'],
  ])('of %s (%s) take no more time than others of their size', async (_, language, text, first) => {
    const [result] = await patient.parse([job(language, text)])
    expect(result?.kind).toBe('indexed')
    expect(outcome(result)[0]).toBe(first)
    expect(Math.max(...outcome(result).map((name) => name.length))).toBeLessThan(1_002)
  })

  it('that leave a thread with too much memory are indexed, and the thread is replaced', async () => {
    let threads = 0
    const count = () => threads++
    process.on('worker', count)
    const pool = openParsePool({ threads: 1, fileLimitMs: 25_000 })
    try {
      const large = `[${'[[]],\n'.repeat(400_000)}1]`
      const sound = job('json', soundSource('json', 'sound'))
      const results = await pool.parse([sound, job('json', large), sound])
      expect(results.map(outcome)).toEqual([['sound'], [], ['sound']])
      await pool.parse([sound])
      expect(threads).toBe(2)
    } finally {
      process.off('worker', count)
      await pool.close()
    }
  })

  it('that overrun the buffer of a scanner cannot give the next file wrong nodes', async () => {
    const nested = ['- ', '> '].flatMap((mark) => [300, 1_000, 10_000].map((depth) => mark.repeat(depth) + 'a\n'))
    const padding = '\n'.repeat(1_000)
    const batch = nested.flatMap((text) => [job('markdown', text + padding), job('markdown', '# sound\n')])
    const results = await patient.parse(batch)
    const outcomes = results.map((result) => outcome(result).join().replace(/:.*/, ''))
    expect(outcomes).toEqual(nested.flatMap(() => ['DISC_005', 'sound']))
  })
})
