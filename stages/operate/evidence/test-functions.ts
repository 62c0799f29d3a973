import type { Node, Tree } from 'web-tree-sitter'

/** A test, or a class or suite of tests, in the text of its file (UTF-16 units). */
type Named = { name: string; start: number; end: number }

/** A test of a test file, with the classes or suites around it, the outermost first. */
export type TestFunction = Named & { suites: readonly Named[] }

/** The tests that a text of a test file has, in its order: of Python its functions `test…`, else calls of `test` and `it`. */
export function testFunctionsOf(tree: Tree, language: string): TestFunction[] {
  const tests: TestFunction[] = []
  const find = language === 'python' ? findInPython : findInScript
  find(tree.rootNode, [], tests)
  return tests
}

function findInPython(around: Node, suites: readonly Named[], tests: TestFunction[]): void {
  for (const node of childrenOf(around)) {
    const definition = node.type === 'decorated_definition' ? node.childForFieldName('definition') : node
    const name = definition?.childForFieldName('name')?.text ?? ''
    const body = definition?.childForFieldName('body')
    if (definition?.type === 'class_definition' && body)
      findInPython(body, [...suites, { name, ...rangeOf(node) }], tests)
    else if (definition?.type === 'function_definition' && name.startsWith('test'))
      tests.push({ name, suites, ...rangeOf(node) })
  }
}

const testCalls = new Set(['test', 'it'])
const suiteCalls = new Set(['describe', 'suite'])

function findInScript(around: Node, suites: readonly Named[], tests: TestFunction[]): void {
  for (const node of childrenOf(around)) {
    const call = node.type === 'expression_statement' ? calledIn(node) : undefined
    if (call === undefined) continue
    if (testCalls.has(call.name)) tests.push({ name: call.title, suites, ...rangeOf(node) })
    else if (suiteCalls.has(call.name) && call.body)
      findInScript(call.body, [...suites, { name: call.title, ...rangeOf(node) }], tests)
  }
}

function calledIn(statement: Node): { name: string; title: string; body: Node | null } | undefined {
  const [first] = childrenOf(statement)
  const call = first?.type === 'await_expression' ? childrenOf(first)[0] : first
  if (call?.type !== 'call_expression') return undefined
  const name = /^\w+/.exec(call.childForFieldName('function')?.text ?? '')?.[0] ?? ''
  const given = childrenOf(call.childForFieldName('arguments'))
  const [title] = given
  if (title === undefined || !['string', 'template_string'].includes(title.type)) return undefined
  return { name, title: title.text.slice(1, -1), body: given.at(-1)?.childForFieldName('body') ?? null }
}

function rangeOf({ startIndex: start, endIndex: end }: Node): { start: number; end: number } {
  return { start, end }
}

function childrenOf(node: Node | null): Node[] {
  return node?.namedChildren.filter((child) => child !== null) ?? []
}

/** The text without some of its tests, and without the classes and suites that have no other. Undefined where no test is left. */
export function withoutTests(
  text: string,
  all: readonly TestFunction[],
  dropped: ReadonlySet<TestFunction>,
): string | undefined {
  if (all.every((test) => dropped.has(test))) return undefined
  const isEmpty = ({ start, end }: Named) =>
    all.every((test) => dropped.has(test) || test.start < start || test.end > end)
  const cuts = new Map([...dropped].map((test) => test.suites.find(isEmpty) ?? test).map((cut) => [cut.start, cut]))
  let kept = text
  for (const { start, end } of [...cuts.values()].toSorted((left, right) => right.start - left.start)) {
    const lineStart = kept.lastIndexOf('\n', start - 1) + 1
    const from = kept.slice(lineStart, start).trim() === '' ? lineStart : start
    const after = /^[^\S\n]*\n(?:[^\S\n]*\n)*/.exec(kept.slice(end))?.[0].length ?? 0
    kept = kept.slice(0, from) + kept.slice(end + after)
  }
  return `${kept.trimEnd()}\n`
}

/** A definition with the names of those around it, and where it starts. */
export type Definition = { qualifiedName: string; start: number }

/** The functions, methods, classes and constants that a text defines, in its order, at any depth. */
export function definitionsOf(tree: Tree): Definition[] {
  const definitions: Definition[] = []
  const open: { node: Node; around: string }[] = [{ node: tree.rootNode, around: '' }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { node, around } = next
    const name = /definition|declaration|declarator/.test(node.type) ? node.childForFieldName('name')?.text : undefined
    const qualifiedName = name === undefined ? around : `${around}${around === '' ? '' : '.'}${name}`
    if (name !== undefined) definitions.push({ qualifiedName, start: node.startIndex })
    for (const child of childrenOf(node).toReversed()) open.push({ node: child, around: qualifiedName })
  }
  return definitions
}

/** Finds the test that a report names, as pytest, unittest, node:test and vitest write it; undefined for none or several. */
export function testNamed(reported: string, tests: readonly TestFunction[]): TestFunction | undefined {
  const parts = reported.replace(/ #\d+$/, '').split(/::| > /)
  const last = parts.at(-1) ?? ''
  const owners = new Set(parts.slice(0, -1).flatMap((part) => [part, part.split('.').at(-1) ?? '']))
  const fits = tests.filter(
    ({ name, suites }) =>
      (last === name || last.startsWith(`${name}[`) || last.startsWith(`${name} (`)) &&
      suites.every((suite) => owners.has(suite.name)),
  )
  const closest = fits.filter(({ suites }) => suites.length === Math.max(...fits.map((fit) => fit.suites.length)))
  return closest.length === 1 ? closest[0] : undefined
}
