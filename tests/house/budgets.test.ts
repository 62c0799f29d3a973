import { describe, expect, it } from 'vitest'
import { budgetViolations, castingFiles, importCycles, maxFileLines, nameViolations } from './budget-rules.ts'
import { parseSource, type ParsedSource } from './parse-source.ts'
import { isTestFile, parseRepository } from './source-files.ts'

const longFunction = (head: string, lines: number) => `${head} {\n${'  a()\n'.repeat(lines - 2)}}\n`

/** Text that is over a budget, and words of the sentence that says so. */
const broken: [what: string, text: string, reason: string][] = [
  ['a long file', 'a()\n'.repeat(maxFileLines + 1), 'has 301 lines'],
  ['a long function', longFunction('function slow()', 51), 'slow has 51 lines'],
  ['a long arrow function', longFunction('const slow = async () =>', 51), 'slow has 51 lines'],
  ['a long method', `class A {\n${longFunction('slow()', 51)}}`, 'slow has 51 lines'],
  ['a long method of an object', `const a = {\n${longFunction('slow()', 51)}}`, 'slow has 51 lines'],
  ['a long callback', `it('is', ${longFunction('() =>', 51).trim()})`, 'has 51 lines'],
  ['a long loop', longFunction('export async function runAgent()', 121), 'runAgent has 121 lines'],
  ['any', 'let a: Map<string, any>', 'says any'],
  ['a non-null assertion', 'a!.b()', 'asserts with !'],
  ['a definite assignment', 'let a!: string', 'asserts with !'],
  ['a cast', 'const a = b as string', 'casts with as'],
  ['a double cast', 'const a = b as unknown as string', 'casts with as'],
  ['an old cast', 'const a = <string>b', 'casts with as'],
  ['a silenced error', '// @ts-expect-error it is right\na()', 'silences the compiler'],
]

/** Text that is within the budgets. */
const allowed: [what: string, text: string][] = [
  ['a file at the limit', 'a()\n'.repeat(maxFileLines)],
  ['a function at the limit', longFunction('function quick()', 50)],
  ['an agent loop at its limit', longFunction('export async function runAgent()', 120)],
  ['a describe block', `describe('a', ${longFunction('() =>', 80).trim()})`],
  [
    'as const, renamed imports and satisfies',
    `import * as a from 'a'\nimport { b as c } from 'b'\nconst d = ['x'] as const satisfies string[]`,
  ],
]

describe('budgets', () => {
  const files = parseRepository()

  it.each(broken)('refuse %s', (_, text, reason) => {
    expect(budgetViolations(parseSource('core/a.ts', text)).join('\n')).toContain(reason)
  })

  it.each(allowed)('take %s', (_, text) => {
    expect(budgetViolations(parseSource('core/a.ts', text))).toEqual([])
  })

  it('are kept by every file', () => {
    expect(files.flatMap(budgetViolations)).toEqual([])
  })

  it('list no casting file that casts no more', () => {
    const casting = files.filter(({ casts }) => casts.length > 0).map(({ path }) => path)
    expect(Object.keys(castingFiles).filter((path) => !casting.includes(path))).toEqual([])
  })

  it('see a circle of type imports', () => {
    const a = parseSource('core/domain/a.ts', `import type { B } from './b.ts'`)
    const b = parseSource('core/domain/b.ts', `import { C } from './c.ts'`)
    const c = parseSource('core/domain/c.ts', `export type { A } from '#domain/a.ts'`)
    const d = parseSource('core/domain/d.ts', `import { A } from './a.ts'`)
    expect(importCycles([d, a, b, c])).toEqual([['core/domain/a.ts', 'core/domain/b.ts', 'core/domain/c.ts']])
    expect(importCycles([d, a, b])).toEqual([])
  })

  it('allow no circle of imports', () => {
    expect(importCycles(files)).toEqual([])
  })

  it('print how near the aims are', () => {
    const lines = aims(files)
    for (const line of lines) process.stdout.write(`\naim: ${line}\n`)
    expect(lines).toHaveLength(2)
  })
})

describe('names', () => {
  it.each([
    'core/platform/utils.ts',
    'core/domain/types.ts',
    'services/api/helpers/a.ts',
    'cli/index.ts',
    'core/queues/queue-manager.ts',
    'core/domain/codeNode.ts',
  ])('refuse the file %s', (path) => {
    expect(nameViolations({ path, exportedNames: [] })).not.toEqual([])
  })

  it('refuse exports that name no idea, and take words that only contain one', () => {
    const exportedNames = ['RunManager', 'pathUtils', 'Utility', 'helperFor']
    expect(nameViolations({ path: 'core/a.ts', exportedNames })).toEqual([
      'core/a.ts exports RunManager',
      'core/a.ts exports pathUtils',
      'core/a.ts exports helperFor',
    ])
  })

  it('are good in every file', () => {
    expect(parseRepository().flatMap(nameViolations)).toEqual([])
  })
})

/** Aims, not limits: median ≤ 90 lines a file, p90 ≤ 220, and 1 to 2 lines of test for one of source. */
function aims(files: readonly ParsedSource[]): string[] {
  const source = files.filter(({ path }) => !isTestFile(path)).map(({ lines }) => lines)
  const test = files.filter(({ path }) => isTestFile(path)).map(({ lines }) => lines)
  const ordered = source.toSorted((a, b) => a - b)
  const quantile = (share: number) => ordered[Math.floor(share * (ordered.length - 1))] ?? 0
  const ratio = sum(test) / Math.max(1, sum(source))
  return [
    `${source.length} source files, median ${quantile(0.5)} lines (≤ 90), p90 ${quantile(0.9)} (≤ 220)`,
    `${sum(test)} lines of test for ${sum(source)} of source, ${ratio.toFixed(2)} (1 to 2)`,
  ]
}

function sum(numbers: readonly number[]): number {
  let total = 0
  for (const number of numbers) total += number
  return total
}
