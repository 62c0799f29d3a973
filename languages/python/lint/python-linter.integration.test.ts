import { afterAll, describe, expect, it } from 'vitest'
import { openTestPythonLinter } from '../../lint/test-linter.fixture.ts'
import type { PythonLinter } from './python-linter.ts'
import { wideRules } from '../../lint/wide-rules.fixture.ts'

const sum = (terms: number) => `x = ${Array.from({ length: terms }, () => '"a"').join(' + ')}\n`
const calls = (count: number) => `x = a${'.b()'.repeat(count)}\n`
const tooDeep = [sum(30_000), calls(30_000), calls(40_000)]
/** Ruff writes a fix for every `not`, with all that follows it. */
const tooSlow = `x = ${'not '.repeat(900)}1\n`.repeat(200)

const lintWide = (linter: Pick<PythonLinter, 'lint'>) => (text: string) => linter.lint(text, wideRules.lint)

describe('the linter', () => {
  const opened = openTestPythonLinter()
  afterAll(async () => (await opened).close())

  it('says where the faults are, in UTF-16 units, and which fixes are safe', async () => {
    const { version } = await opened
    const lint = lintWide(await opened)
    expect(version).toMatch(/^ruff \d/)
    const { diagnostics } = await lint('a = "🙂"; b = f"x"\nif a == None:\n    pass\n')
    const byCode = (code: string) => diagnostics.find((one) => one.code === code)
    expect(byCode('F541')).toMatchObject({ line: 1, start: 14, end: 18, fix: [{ start: 14, end: 18, text: '"x"' }] })
    expect(byCode('E711')).toMatchObject({ line: 2, fix: undefined })
    expect((await lint('x = 1\ndef (\n')).syntaxErrors[0]).toMatchObject({ line: 2 })
  })

  it('finds the faults no change may bring, whether or not the repository asks for them', async () => {
    const { lint } = await opened
    const reportUnder = (options: Record<string, unknown>, text: string) => lint(text, { ...wideRules.lint, options })
    const text = 'import os, sys  # noqa: F401\nimport json\ndef f():\n    return a\nreturn 1\n__all__ = ["q"]\n'
    for (const own of [{ select: ['W'] }, { select: ['F'] }, { select: ['F'], ignore: ['F401', 'F7'] }]) {
      const { guards, diagnostics } = await reportUnder({ lint: own }, text)
      expect(guards.map(({ code }) => code)).toEqual(['F401', 'F821', 'F706', 'F822'])
      expect(diagnostics.map(({ code }) => code)).toEqual(
        own.select.includes('W') ? [] : own.ignore === undefined ? ['F401', 'F821', 'F706', 'F822'] : ['F821', 'F822'],
      )
    }
    const ignored = { select: ['F'], 'per-file-ignores': { '*': ['F401'] } }
    expect((await reportUnder({ lint: ignored }, 'import os\n')).guards).toEqual([])
    const newer = { 'target-version': 'py37', lint: { select: ['F'] } }
    expect((await reportUnder(newer, 'match x:\n    case 1: pass\nimport os\n')).diagnostics).toHaveLength(2)
    expect((await reportUnder(newer, 'print "two"\nimport os\n')).diagnostics).toEqual([])
  })

  it('keeps the format of a text that was formatted, and of no other', async () => {
    const { keepFormat } = await opened
    const style = { text: { lineLength: 79 } }
    const [before, after] = [
      'x = f(\n    "{}".format(y), a_long_argument, another_one, one_more, the_last_of_it_all\n)\n',
      'x = f(\n    f"{y}", a_long_argument\n)\n',
    ]
    expect(await keepFormat(before, after, style)).toBe('x = f(f"{y}", a_long_argument)\n')
    expect(await keepFormat(`${before}y  = 1\n`, after, style)).toBe(after)
    expect(await keepFormat(before, `${after}def (`, style)).toBe(`${after}def (`)
    expect(await keepFormat("x = 'a'\n", "x = 'b'\nimport os\n", style)).toBe("x = 'b'\nimport os\n")
    expect(await keepFormat(before, tooDeep[0] ?? '', style)).toBe(tooDeep[0])
    expect(await keepFormat(before, after, style)).toBe('x = f(f"{y}", a_long_argument)\n')
  })

  it('takes a text that is nested as deep as programs are', async () => {
    const lint = lintWide(await opened)
    for (const text of [sum(1000), calls(600)]) expect((await lint(text)).syntaxErrors).toEqual([])
  })

  it('lints on after any number of texts that crash it, and does not try these again', async () => {
    const lint = lintWide(await opened)
    for (const text of tooDeep) {
      await expect(lint(text)).rejects.toMatchObject({ code: 'TOOL_006' })
      expect((await lint(`import os  # ${text.length}\n`)).diagnostics).toHaveLength(1)
    }
    const startedAt = performance.now()
    for (const text of tooDeep) await expect(lint(text)).rejects.toMatchObject({ code: 'TOOL_006' })
    expect(performance.now() - startedAt).toBeLessThan(100)
  })

  it('gives up a text that takes too long, for all who asked for it, and lints the others', async () => {
    const linter = await openTestPythonLinter({ limitMs: 400 })
    const answers = await Promise.allSettled([tooSlow, tooSlow, 'import os\n'].map(lintWide(linter)))
    expect(answers).toMatchObject([
      { status: 'rejected', reason: { code: 'TOOL_006' } },
      { status: 'rejected', reason: { code: 'TOOL_006' } },
      { status: 'fulfilled', value: { diagnostics: [{ code: 'F401' }] } },
    ])
    await linter.close()
  })

  it('ends at once when it is closed, whatever is under way', async () => {
    const linter = await openTestPythonLinter()
    const asked = Promise.allSettled([lintWide(linter)(tooSlow)])
    const startedAt = performance.now()
    await linter.close()
    expect(await asked).toMatchObject([{ status: 'rejected', reason: { code: 'AGENT_010' } }])
    expect(performance.now() - startedAt).toBeLessThan(2000)
    await expect(lintWide(linter)('x = 1\n')).rejects.toMatchObject({ code: 'AGENT_010' })
  })
})
