import { spawnSync } from 'node:child_process'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { defaultScriptRules, type ScriptSuffix } from '#domain/path-rules.ts'
import { until } from '#testing/until.ts'
import { openScriptLinter } from './script-linter.ts'

const linter = openScriptLinter()
afterAll(() => linter.close())

const rulesWith = (rules: Record<string, unknown>, suffix: ScriptSuffix = '.js') => ({
  ...defaultScriptRules(suffix),
  suffix,
  options: { categories: { correctness: 'off' }, plugins: ['typescript', 'react', 'unicorn'], rules },
})

/** The text after all fixes, from the last to the first. */
async function fixed(text: string, rules: Record<string, unknown>, suffix?: ScriptSuffix) {
  const { diagnostics } = await linter.lint(text, rulesWith(rules, suffix))
  const edits = diagnostics.flatMap(({ fix }) => fix ?? []).toSorted((one, other) => other.start - one.start)
  return edits.reduce((before, edit) => before.slice(0, edit.start) + edit.text + before.slice(edit.end), text)
}

describe('a safe fix', () => {
  it.each([
    ['prefer-const', 'let é = "𝒳"; let b = é\r\nexport { b }\r\n', 'const é = "𝒳"; const b = é\r\nexport { b }\r\n'],
    ['no-useless-rename', 'export { a as a } from "b"\n', 'export { a } from "b"\n'],
    ['object-shorthand', 'export const f = (a) => ({ a: a, b: 1 })\n', 'export const f = (a) => ({ a, b: 1 })\n'],
    ['no-extra-label', 'A: for (;;) break A\n', 'A: for (;;) break\n'],
  ])('of %s changes only what it is about', async (rule, before, after) => {
    expect(await fixed(before, { [rule]: 'error' })).toBe(after)
  })

  it.each([
    ['a function that becomes a method', { 'object-shorthand': 'error' }, 'export const a = { f: function () {} }\n'],
    ['a var, which is hoisted', { 'no-var': 'error' }, 'var a = 1\nexport { a }\n'],
    ['what was meant instead of what is done', { 'use-isnan': 'error' }, 'export const f = (a) => a === NaN\n'],
    ['a comment inside', { 'object-shorthand': 'error' }, 'export const f = (a) => ({ a: /* why */ a })\n'],
    ['a binding that is assigned later', { 'prefer-const': 'error' }, 'let a\na = 1\nexport { a }\n'],
  ])('is not made of %s', async (_what, rules, text) => {
    expect(await fixed(text, rules)).toBe(text)
  })

  const constant = { 'prefer-const': 'error' }
  it.each<[string, string, ScriptSuffix?]>([
    ['the next script of the page', 'let score = 0\nfunction show() { document.title = score }\n'],
    ['the next script of the page, says a comment', '/* exported score */\nlet score = 0, lives = 3\n'],
    [
      'a page that loads what tests import',
      'let score = 0\nif (typeof module === "object") module.exports = { score }\n',
    ],
    ['a script that is compiled with it', 'let score: number = 0\n', '.ts'],
    ['eval', 'export function run(code) {\n  let score = 0\n  eval(code)\n  return score\n}\n'],
    [
      'eval, and nobody is to be told',
      '/* eslint-disable no-eval */\nlet score = 0\nexport default () => eval("score = 1")\n',
    ],
    ['a compiler of JSX', 'export default () => {\n  let top = null\n  return <p ref={top} />\n}\n', '.jsx'],
    ['whoever uses its namespace', 'namespace Game { export let score = 0 }\nGame.score = 1\nexport {}\n', '.ts'],
  ])('makes no constant of what %s assigns, and no model is asked for it', async (_who, text, suffix) => {
    expect(await fixed(text, constant, suffix)).toBe(text)
    const { diagnostics } = await linter.lint(text, rulesWith(constant, suffix))
    expect(diagnostics).not.toEqual([])
    for (const one of diagnostics) expect(one.mustStay).toMatch(/may assign it/)
  })

  it('makes constants where the file has a scope of its own, and within functions', async () => {
    expect(await fixed('let a = 1\n', constant, '.cjs')).toBe('const a = 1\n')
    expect(await fixed('export let a = 1\n', constant)).toBe('export const a = 1\n')
    expect(await fixed('let a = 1\n{ let b = a }\n', constant)).toBe('let a = 1\n{ const b = a }\n')
  })

  it.each<[string, Record<string, unknown>, string, ScriptSuffix?]>([
    ['a label that a bundler looks for', { 'no-unused-labels': 'error' }, 'DEV: check()\n'],
    [
      'a function that is called Boolean',
      { 'no-extra-boolean-cast': 'error' },
      'export const f = (Boolean, a) => Boolean(a) ? 1 : 2\n',
    ],
    ['a function that makes errors', { 'unicorn/throw-new-error': 'error' }, 'throw FooError()\n'],
    ['no code point', { 'unicorn/escape-case': 'error' }, 'export const a = /\\u{ab}/\n'],
    [
      'what makes it a module',
      { 'typescript/no-useless-empty-export': 'error' },
      'import type { A } from "a"\nexport {}\n',
      '.ts',
    ],
    ['a line that would go on with the one before', { 'unicorn/no-zero-fractions': 'error' }, 'a = b\n1.0.toFixed()\n'],
    ['a name in quotes, which is not shortened', { 'no-useless-rename': 'error' }, 'const { "a": a } = b\n'],
    ['a sign', { 'prefer-numeric-literals': 'error' }, 'a = parseInt("-1", 2)\n'],
    ['an array of anything', { 'no-array-constructor': 'error' }, 'export const a = new Array()\n', '.ts'],
    [
      'the type that a decorator reads',
      { 'typescript/prefer-as-const': 'error' },
      'class A { @b c: "d" = "d" }\n',
      '.ts',
    ],
    [
      'a type of which only a part is taken',
      { 'typescript/array-type': 'error' },
      'let a: ReadonlyArray<b>["length"]\n',
      '.ts',
    ],
    ['two attributes without a space', { 'react/jsx-boolean-value': 'error' }, 'a = <b c={true}d />\n', '.jsx'],
    ['a space that JSX keeps', { 'react/self-closing-comp': 'error' }, 'a = <b>\u00a0\n</b>\n', '.jsx'],
  ])('leaves %s alone', async (_what, rules, text, suffix) => {
    expect((await linter.lint(text, rulesWith(rules, suffix))).diagnostics).toHaveLength(1)
    expect(await fixed(text, rules, suffix)).toBe(text)
  })

  it('knows TypeScript and JSX', async () => {
    const array = { 'typescript/array-type': 'error' }
    expect(await fixed('export let a: Array<string>\n', array, '.ts')).toBe('export let a: string[]\n')
    expect(await fixed('export const a = <b c={true} />\n', { 'react/jsx-boolean-value': 'error' }, '.tsx')).toBe(
      'export const a = <b c />\n',
    )
  })
})

describe('a text', () => {
  it('that does not parse has syntax errors and nothing else', async () => {
    const report = await linter.lint('let a = (1\nvar b\n', rulesWith({ 'no-var': 'error' }))
    expect(report).toMatchObject({ diagnostics: [], guards: [], syntaxErrors: [{ code: 'invalid-syntax', line: 2 }] })
  })

  it('says itself what is not to be reported, in the words of ESLint and of oxlint', async () => {
    const text =
      '// eslint-disable-next-line no-var\nvar a = 1\nvar b = 1 // oxlint-disable-line no-var\n/* eslint-disable no-var -- old */\nvar c\nexport { a, b, c }\n'
    expect((await linter.lint(text, rulesWith({ 'no-var': 'error' }))).diagnostics).toEqual([])
  })

  it('that ends oxlint is refused, and the next one is linted', async () => {
    const deep = `x = ${'('.repeat(100_000)}1${')'.repeat(100_000)}\n`
    await expect(linter.lint(deep, rulesWith({}))).rejects.toMatchObject({ code: 'TOOL_006' })
    expect((await linter.lint('debugger\n', defaultRules())).diagnostics).toMatchObject([{ code: 'no-debugger' }])
  })

  it('is cached with its rules, and answered alike when asked many times at once', async () => {
    const texts = Array.from({ length: 40 }, (_, at) => `debugger // ${at % 5}\n`)
    const reports = await Promise.all(texts.map((text) => linter.lint(text, defaultRules())))
    expect(new Set(reports.map((report) => JSON.stringify(report))).size).toBe(1)
  })
})

it('a rule that oxlint does not accept is named in its words', async () => {
  expect(await linter.refusalOf({ rules: { eqeqeq: ['error', 'maybe'] } })).toContain('`eqeqeq`')
  expect(await linter.refusalOf({ rules: { eqeqeq: 'error' } })).toBeUndefined()
})

describe('a configuration that oxlint did not get to check', () => {
  const configuration = { rules: { eqeqeq: 'error' } }

  it('is checked by a new process', async () => {
    await linter.refusalOf({})
    const pids = await oxlintProcesses()
    expect(pids).not.toEqual([])
    const asked = linter.refusalOf(configuration)
    for (const pid of pids) process.kill(-pid, 'SIGKILL')
    expect(await asked).toBeUndefined()
  })

  it('does not count as refused', async () => {
    const slow = openScriptLinter({ limitMs: 1 })
    await expect(slow.refusalOf(configuration)).rejects.toMatchObject({ code: 'TOOL_004' })
    await slow.close()
  })
})

it('leaves no process and no folder behind, although its owner is killed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'oxlint-owner-'))
  const module = new URL('./script-linter.ts', import.meta.url).href
  const code = `const { openScriptLinter } = await import('${module}')
    const rules = ${JSON.stringify(defaultRules())}
    await openScriptLinter().lint('debugger', rules)
    process.kill(process.pid, 'SIGKILL')`
  const env = { ...process.env, TMPDIR: folder }
  const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { env })
  expect(signal).toBe('SIGKILL')
  await until(() => readdir(folder), { holds: ({ length }) => length === 0 })
  await rm(folder, { recursive: true })
})

/** Those that this process started, each the leader of its group. */
async function oxlintProcesses(): Promise<number[]> {
  const threads = await readdir('/proc/self/task')
  const lists = await Promise.all(threads.map((thread) => readFile(`/proc/self/task/${thread}/children`, 'utf8')))
  const pids = lists.flatMap((list) => list.split(' ').filter((pid) => pid !== ''))
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8')))
  return pids.filter((_pid, at) => commands[at]?.includes('oxlint')).map(Number)
}

function defaultRules() {
  return { ...defaultScriptRules('.js'), suffix: '.js' as const }
}
