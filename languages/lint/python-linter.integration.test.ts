import { afterAll, describe, expect, it } from 'vitest'
import { openPythonLinter, type PythonLinter } from './python-linter.ts'
import { wideRules } from './wide-rules.fixture.ts'

const sum = (terms: number) => `x = ${Array.from({ length: terms }, () => '"a"').join(' + ')}\n`
const calls = (count: number) => `x = a${'.b()'.repeat(count)}\n`
const tooDeep = [sum(30_000), calls(30_000), `x = ${'('.repeat(30_000)}\n`, calls(40_000)]
/** Ruff writes a fix for every `not`, with all that follows it. */
const tooSlow = `x = ${'not '.repeat(900)}1\n`.repeat(200)

const lintWide = (linter: Pick<PythonLinter, 'lint'>) => (text: string) => linter.lint(text, wideRules.lint)

describe('the linter', () => {
  const opened = openPythonLinter()
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

  it('finds the faults no change may bring alike, whether or not the repository asks for them', async () => {
    const { lint } = await opened
    const guardsUnder = async (options: Record<string, unknown>, text: string) =>
      (await lint(text, { ...wideRules.lint, options })).guards
    const texts = [
      'import os, sys  # noqa: F401\nimport json\nimport json as j\ndef f():\n    return a\nx = b"ü"\n__all__ = ["q"]\n',
      'def f():\n    x = y\n    y = 1\nreturn 1\nyield 2\n"{} {a}".format(1)\nclass f: ...\n',
      'import os\ndef (\n',
      'print "two"\nimport os\n',
      'match x:\n    case 1: pass\nimport os\n',
      '# ruff: noqa\nimport os\n',
      `import os\n${'# ä\n'.repeat(50)}try: f\nexcept* E: raise\n`,
    ]
    for (const text of texts) {
      for (const target of [{}, { 'target-version': 'py37' }, { builtins: ['a', 'f'] }]) {
        const alone = await guardsUnder({ ...target, lint: { select: ['W'] } }, text)
        for (const select of [['F', 'E'], ['ALL'], ['E9', 'F4', 'F7', 'F8', 'I']]) {
          expect(await guardsUnder({ ...target, lint: { select } }, text)).toEqual(alone)
        }
        for (const less of [
          { ignore: ['F401'] },
          { ignore: ['F'] },
          { pyflakes: { 'allowed-unused-imports': ['os'] } },
          { 'per-file-ignores': { '*': ['F401', 'F821'] } },
          { isort: { 'required-imports': ['import os'] } },
          { unfixable: ['F401'] },
          { preview: true },
        ]) {
          expect(await guardsUnder({ ...target, lint: { select: ['F', 'E'], ...less } }, text)).toEqual(alone)
        }
      }
    }
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
    for (const text of [sum(1000), calls(1000)]) expect((await lint(text)).syntaxErrors).toEqual([])
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
    const linter = await openPythonLinter({ limitMs: 400 })
    const answers = await Promise.allSettled([tooSlow, tooSlow, 'import os\n'].map(lintWide(linter)))
    expect(answers).toMatchObject([
      { status: 'rejected', reason: { code: 'TOOL_006' } },
      { status: 'rejected', reason: { code: 'TOOL_006' } },
      { status: 'fulfilled', value: { diagnostics: [{ code: 'F401' }] } },
    ])
    await linter.close()
  })

  it('ends at once when it is closed, whatever is under way', async () => {
    const linter = await openPythonLinter()
    const asked = Promise.allSettled([lintWide(linter)(tooSlow)])
    const startedAt = performance.now()
    await linter.close()
    expect(await asked).toMatchObject([{ status: 'rejected', reason: { code: 'AGENT_010' } }])
    expect(performance.now() - startedAt).toBeLessThan(2000)
    await expect(lintWide(linter)('x = 1\n')).rejects.toMatchObject({ code: 'AGENT_010' })
  })
})
