import { isPython, namesInBody, readTestText } from '#change-sets/test-text.ts'
import type { TestFunction } from '../../evidence/test-functions.ts'
import { refusal } from '../../workspace/open-workspace.ts'
import type { FoundRunner } from './find-runner.ts'

/** Says how the tests of a repository are written: methods of unittest's classes, functions, or calls in a `describe` for each definition. */
export type TestStyle = 'unittest' | 'functions' | 'suites'

/** The style of the first of these texts that has one of Python, else that of the runner. */
export function testStyleOf(
  language: string,
  { runner }: Pick<FoundRunner, 'runner'>,
  texts: readonly string[],
): TestStyle {
  if (language !== 'python') return 'suites'
  if (runner === 'unittest') return 'unittest'
  const found = texts.map((text) =>
    unittestClass.test(text) ? 'unittest' : /^\s*(?:async )?def test/m.test(text) ? 'functions' : undefined,
  )
  return found.find((style) => style !== undefined) ?? 'functions'
}

const unittestClass = /^class \w+\([^)\n]*TestCase\b/m

export type Shaping = {
  path: string
  style: TestStyle
  label: string
  isPrefixed: boolean
  taken: ReadonlySet<string>
}

/**
 * A text of tests as a part of its module's file: its classes, functions or suite are named after the definition, so that they are no
 * other's, and what belongs to a file alone is gone (a docstring, `unittest.main()`). `tests` are those of the text. Throws
 * WorkspaceFault refused for a text in another style than that of the file.
 */
export function shapeTests(text: string, tests: readonly TestFunction[], shaping: Shaping): string {
  const { path, style } = shaping
  requireStyle(text, tests, style)
  const named = isPython(path) ? renamed(text, tests, shaping) : inSuite(text, tests, shaping)
  const { preamble, body, bodyStart } = readTestText(path, named)
  const strict = isPython(path) ? undefined : /(['"])use strict\1;?/.exec(preamble)?.[0]
  const head = named.slice(preamble.length, bodyStart)
  const left = isPython(path) ? body.replace(mainGuard, '') : body
  return `${strict === undefined ? '' : `${strict}\n\n`}${head}${left.trimEnd()}\n`
}

/** `unittest.main()` at the end of a file of Python. */
export const mainGuard = /^if __name__ == (['"])__main__\1:[^\n]*(?:\n(?:[ \t][^\n]*)?\r?)*(?![^])/m

function requireStyle(text: string, tests: readonly TestFunction[], style: TestStyle): void {
  const isInClass = ({ suites: [suite] }: TestFunction) =>
    suite !== undefined && unittestClass.test(text.slice(suite.start, suite.end))
  if (style === 'unittest' && tests.some(({ suites }) => suites.length === 0))
    throw refusal('tests here are methods of a class that extends unittest.TestCase, no functions')
  if (style === 'functions' && tests.some(isInClass))
    throw refusal('tests here are functions for pytest: no classes that extend unittest.TestCase')
}

function renamed(text: string, tests: readonly TestFunction[], { label, isPrefixed, style, taken }: Shaping): string {
  const own = new Set(taken)
  const words = label.split(/[\W_]+/).filter((word) => word !== '')
  const camel = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('')
  const classes = [
    ...new Map(
      tests.flatMap(({ suites: [suite] }) => (suite === undefined ? [] : [[suite.start, suite.name]])),
    ).values(),
  ]
  const wanted = isPrefixed || style === 'functions' ? `Test${camel}` : `${camel}Test`
  let result = text
  const snake = words.join('_').toLowerCase()
  const plain = words.at(-1)?.toLowerCase() ?? ''
  for (const { name, start } of tests.filter(({ suites }) => suites.length === 0).toReversed()) {
    const rest = name.replace(/^test_*/, '')
    const what = [snake, plain].find((prefix) => rest === prefix || rest.startsWith(`${prefix}_`))
    const after = (what === undefined ? rest : rest.slice(what.length)).replace(/^_+/, '')
    const to = free(after === '' ? `test_${snake}` : `test_${snake}_${after}`, own)
    result = result.slice(0, start) + result.slice(start).replace(`def ${name}`, () => `def ${to}`)
  }
  for (const [at, name] of classes.entries()) {
    const isNamed = at > 0 && name.toLowerCase().includes(camel.toLowerCase())
    const to = free(at === 0 ? wanted : isNamed ? name : `${camel}${name}`, own, '')
    if (to !== name) result = result.replaceAll(new RegExp(`(?<![\\w.])${name}\\b`, 'g'), () => to)
  }
  return result
}

function free(name: string, taken: Set<string>, between = '_'): string {
  let found = name
  for (let count = 2; taken.has(found); count++) found = `${name}${between}${count}`
  taken.add(found)
  return found
}

/** All tests in one suite: that which the text has, if it is all of its body and named after the definition, else a new one around. */
function inSuite(text: string, tests: readonly TestFunction[], { path, label, taken }: Shaping): string {
  const { imports, body, bodyStart } = readTestText(path, text)
  const outer = new Set(tests.map(({ suites: [suite] }) => suite))
  const [suite] = outer
  const isWhole = outer.size === 1 && suite !== undefined && text.slice(suite.start, suite.end) === body.trim()
  const isNamed = isWhole && suite.name.includes(label.split('.').at(-1) ?? label)
  const titles = namesInBody(path, body)
  if (isNamed && !titles.some((title) => taken.has(title))) return text
  const semicolon = /;\n/.test(body) ? ';' : ''
  const quote = imports.some(({ open, close }) => `${open}${close}`.includes('"')) ? '"' : "'"
  const lines = isIndentable(body) ? body.trim().replaceAll(/^(?=.)/gm, '  ') : body.trim()
  const title = free(`${quote}${label}${quote}`, new Set(taken)).replace(/(['"])_(\d+)$/, '_$2$1')
  const around = `describe(${title}, () => {\n${lines}\n})${semicolon}\n`
  return `${withDescribe(text.slice(0, bodyStart), path)}\n${around}`
}

/** Text in template strings over several lines would change. */
function isIndentable(body: string): boolean {
  return !/`[^`]*\n[^`]*`/.test(body)
}

/** The head of a file that gets `describe` from where it gets `test`; unchanged where that is a global. */
function withDescribe(head: string, path: string): string {
  const { imports } = readTestText(path, head)
  if (imports.some(({ names }) => names.includes('describe'))) return head
  const found = imports.find(({ module }) => module === 'vitest' || module === 'node:test')
  if (found === undefined) return head
  const line = head.slice(found.start, found.end)
  const added =
    found.names.length > 0
      ? line.replace('{', '{ describe,')
      : `${line}${line.startsWith('import') ? `import { describe } from '${found.module}'` : `const { describe } = require('${found.module}')`}\n`
  return head.slice(0, found.start) + added + head.slice(found.end)
}
