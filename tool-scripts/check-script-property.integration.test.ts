import { draws, fc } from '#testing/fast-check.ts'
import { afterAll, describe, expect, it } from 'vitest'
import { endlessScript } from './endless-script.fixture.ts'
import { checkScript } from './check-script.ts'
import { openTypeChecker } from './type-checker.ts'

const typeChecker = openTypeChecker({ limitMs: 2_000 })
afterAll(() => typeChecker.close())

const whole = `"""Doc."""
from typing import Any, Literal
from grail import Input, external
mode: Literal["a", "b"] | None = Input("mode", default=None)
paths: list[str] = Input("paths", default=["x", 'y'])

@external
async def read_file(path: str, start_line: int | None = None) -> str: ...

async def all_of(names: list[str]) -> dict[str, Any]:
    return {name: await read_file(name) for name in names}

found = await all_of(paths)
answer = {"result": found, "summary": f"{len(found)} files, {mode}", "outcome": "success"}
answer
`
const tokens = whole.split(/(\s+|\b)/).filter((token) => token !== '')
const odd = [
  ['class', 'lambda', 'yield', 'import os', '@', 'f"{', '"""', '{', '[', '('],
  ['\t', '\r\n', '\0', '\ud800', '😀', '\\'],
].flat()

/** Each line's type holds that of the line before twice. */
function grown(lines: number, next: (last: string) => string): string {
  const steps = Array.from({ length: lines }, (_, line) => `a${line + 1} = ${next(`a${line}`)}`)
  return ['a0 = (1, "a")', ...steps, `z: int = a${lines}`, 'z'].join('\n')
}
const narrowings = Array.from({ length: 300 }, (_, n) => [
  `    if isinstance(a, int) and not isinstance(a, str) or a == ${n}:`,
  `        a = (a, ${n})`,
])
const narrowed = ['def f(a: object) -> int:', ...narrowings.flat(), '    return a', 'f(1)'].join('\n')

describe('checkScript', () => {
  it('answers any text, with places inside of it', { timeout: 120_000 }, async () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.array(fc.constantFrom(...tokens, ...odd), { maxLength: 60 }).map((parts) => parts.join('')),
      fc.nat(whole.length).map((end) => whole.slice(0, end)),
      fc
        .tuple(fc.nat(whole.length), fc.constantFrom(...odd))
        .map(([at, put]) => whole.slice(0, at) + put + whole.slice(at)),
    )
    const answers = async (source: string): Promise<void> => {
      const { faults } = await checkScript(source, 'any.pym', { typeChecker })
      const lines = source.replace(/^\uFEFF/, '').split(/\r\n?|\n/)
      for (const { line, column } of faults) {
        expect(line).toBeGreaterThanOrEqual(1)
        expect(line).toBeLessThanOrEqual(lines.length)
        expect(column).toBeGreaterThanOrEqual(1)
        expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1)
      }
    }
    await fc.assert(fc.asyncProperty(text, answers), { numRuns: draws(400) })
  })

  it.each([
    ['brackets', `x = ${'['.repeat(10_000)}${']'.repeat(10_000)}`],
    ['open brackets', '('.repeat(10_000)],
    ['sums', `x = 1${'+1'.repeat(30_000)}`],
    ['sums before a syntax error', `x = 1${'+1'.repeat(30_000)}\ny = (`],
    ['attributes before a syntax error', `x = a${'.b'.repeat(30_000)})`],
    ['types', `x: ${'int | '.repeat(10_000)}int = 1`],
    ['a long line', `x = "${'a'.repeat(1_000_000)}"`],
  ])('refuses what would end the process: %s', async (_, source) => {
    expect((await checkScript(source, 'deep.pym', { typeChecker })).faults).toMatchObject([{ code: 'E000' }])
  })

  it.each([
    ['tuples of tuples', grown(24, (last) => `(${last}, ${last})`)],
    ['lists of tuples', grown(24, (last) => `[(${last}, [${last}])]`)],
    ['dicts of dicts', grown(24, (last) => `{1: ${last}, "a": {2: ${last}}}`)],
    ['types that grow in loops', endlessScript],
    ['types that a chain of ifs narrows', narrowed],
  ])('has one fault for what the type checker cannot manage or tells at length: %s', async (_, source) => {
    const { faults } = await checkScript(source, 'grows.pym', { typeChecker })
    const errors = faults.filter(({ severity }) => severity === 'error')
    expect(errors.map(({ code }) => code)).toEqual(['E100'])
    expect(errors[0]?.message.length).toBeLessThanOrEqual(500)
  })
})
