import { beforeAll, describe, expect, it } from 'vitest'
import type { CodeNode } from '#domain/code-node.ts'
import { compareNodes, matchRenames, type NodeComparison } from './compare-nodes.ts'
import { compileNodeQuery, type NodeQuery } from './node-query.ts'
import { nodesOfFile } from './outline.fixture.ts'
import { loadQueryPacks } from './query-pack.ts'

let query: NodeQuery

beforeAll(async () => {
  const pack = (await loadQueryPacks()).get('python')
  if (pack === undefined) throw new Error('no python pack')
  query = await compileNodeQuery(pack)
})

type Files = Readonly<Record<string, string>>

function nodesOf(files: Files): CodeNode[] {
  return Object.entries(files).flatMap(([path, text]) =>
    nodesOfFile({ path, bytes: Buffer.from(text), language: 'python', query }),
  )
}

function compare(before: Files, after: Files): NodeComparison {
  return compareNodes(nodesOf(before), nodesOf(after))
}

function compareWithTexts(before: Files, after: Files): NodeComparison {
  return matchRenames(compare(before, after), ({ path, startByte, endByte }) =>
    Buffer.from(after[path] ?? '')
      .subarray(startByte, endByte)
      .toString(),
  )
}

const place = (node: CodeNode) => (node.kind === 'file' ? node.path : `${node.path} ${node.qualifiedName}`)

/** `what place`, files only where they are added, removed or moved. */
function told({ added, removed, changed, moved }: NodeComparison): string[] {
  return [
    ...added.map((node) => `added ${place(node)}`),
    ...removed.map((node) => `removed ${place(node)}`),
    ...changed.filter(({ kind }) => kind !== 'file').map((node) => `changed ${place(node)}`),
    ...moved.map(({ from, to }) => `${place(from)} -> ${place(to)}`),
  ]
}

const f = 'def f(x):\n    return x + 1\n'
const named = (name: string) => f.replace('def f', `def ${name}`)
const g = 'def g(x):\n    return x * 2\n'
const classWith = (name: string, ...methods: string[]) =>
  `class ${name}:\n    kind = "${name.length}"\n${methods.map((one) => one.replaceAll(/^(?=.)/gm, '    ')).join('')}`

describe('compareNodes', () => {
  it('finds nothing in equal trees, and counts their nodes', () => {
    expect(compare({ 'a.py': f + g }, { 'a.py': f + g })).toEqual({
      added: [],
      removed: [],
      changed: [],
      moved: [],
      unchanged: 3,
    })
  })

  it('tells what is new, gone and changed; a file and a class change with what is in them', () => {
    const before = { 'a.py': classWith('A', f, g), 'b.py': g }
    const after = { 'a.py': classWith('A', f.replace('1', '3'), g), 'c.py': `${f}x = 1\n` }
    const comparison = compare(before, after)
    expect(told(comparison)).toEqual([
      'added c.py',
      'added c.py f',
      'removed b.py',
      'removed b.py g',
      'changed a.py A',
      'changed a.py A.f',
    ])
    expect(comparison.changed.map(place)).toContain('a.py')
    expect(comparison.unchanged).toBe(1)
  })

  it('calls nothing changed that only stands elsewhere in its file', () => {
    expect(told(compare({ 'a.py': f + g }, { 'a.py': `import x\n\n${g}${f}` }))).toEqual([])
  })

  it('follows a renamed file with all that is in it', () => {
    const text = classWith('A', f)
    expect(told(compare({ 'a.py': text }, { 'sub/b.py': text }))).toEqual([
      'a.py -> sub/b.py',
      'a.py A -> sub/b.py A',
      'a.py A.f -> sub/b.py A.f',
    ])
  })

  it('follows a node to another file and to another class', () => {
    expect(told(compare({ 'a.py': f + g, 'b.py': '' }, { 'a.py': g, 'b.py': f }))).toEqual(['a.py f -> b.py f'])
    const before = { 'a.py': classWith('A', f, g) + classWith('Bb', g) }
    const after = { 'a.py': classWith('A', g) + classWith('Bb', g, f) }
    expect(told(compare(before, after))).toEqual(['changed a.py A', 'changed a.py Bb', 'a.py A.f -> a.py Bb.f'])
  })

  it('takes the likest of equal texts, and each once', () => {
    const before = { 'a/x.py': classWith('A', f), 'a/y.py': classWith('Bbb', f) }
    const after = { 'b/y.py': `${classWith('Bbb', f)}y = 1\n`, 'c/x.py': `${classWith('A', f)}y = 1\n` }
    expect(told(compare(before, after)).filter((line) => line.includes('->'))).toEqual([
      'a/y.py Bbb -> b/y.py Bbb',
      'a/y.py Bbb.f -> b/y.py Bbb.f',
      'a/x.py A -> c/x.py A',
      'a/x.py A.f -> c/x.py A.f',
    ])
    expect(told(compare({ 'a.py': f, 'b.py': '' }, { 'a.py': '', 'b.py': f + f }))).toEqual([
      'added b.py f',
      'a.py f -> b.py f',
    ])
  })

  it('keeps empty files with their names', () => {
    const before = { 'a/__init__.py': '', 'a/z.py': '', 'b/__init__.py': '' }
    const after = { 'c/b/__init__.py': '', 'c/z.py': '', 'd/a/__init__.py': '' }
    expect(told(compare(before, after))).toEqual([
      'b/__init__.py -> c/b/__init__.py',
      'a/z.py -> c/z.py',
      'a/__init__.py -> d/a/__init__.py',
    ])
  })

  it('counts every node of both sides once', () => {
    const before = { 'a.py': classWith('A', f, g) + f, 'b.py': f + f + g, 'c.py': g }
    const after = { 'a.py': classWith('A', g) + g, 'd.py': f + f + f, 'c.py': `${g}x = 1\n` }
    const { added, removed, changed, moved, unchanged } = compareWithTexts(before, after)
    expect(added.length + changed.length + moved.length + unchanged).toBe(nodesOf(after).length)
    expect(removed.length + changed.length + moved.length + unchanged).toBe(nodesOf(before).length)
    expect(new Set(moved.map(({ from }) => from.nodeId)).size).toBe(moved.length)
  })
})

describe('matchRenames', () => {
  it('follows a renamed function, its calls of itself and its decorators included', () => {
    const text = (name: string) => `@${name}.register\ndef ${name}(n):\n    return n and ${name}(n - 1) + older_old\n`
    const [before, after] = [{ 'a.py': text('old') + g }, { 'a.py': g + text('renamed') }]
    expect(told(compareWithTexts(before, after))).toEqual(['a.py old -> a.py renamed'])
    expect(told(compare(before, after))).toEqual(['added a.py renamed', 'removed a.py old'])
  })

  it('follows a renamed class with its methods, and names that are not ASCII', () => {
    const before = { 'a.py': classWith('Old', f) }
    expect(told(compareWithTexts(before, { 'a.py': classWith('New', f) })).toSorted()).toEqual([
      'a.py Old -> a.py New',
      'a.py Old.f -> a.py New.f',
    ])
    expect(told(compareWithTexts({ 'a.py': f }, { 'a.py': named('é') }))).toEqual(['a.py f -> a.py é'])
  })

  it('prefers the same file, and takes each once', () => {
    expect(told(compareWithTexts({ 'a.py': f, 'b.py': named('h') }, { 'b.py': named('i') }))).toEqual([
      'removed a.py',
      'removed a.py f',
      'b.py h -> b.py i',
    ])
    expect(told(compareWithTexts({ 'a.py': f }, { 'a.py': named('h') + named('i') }))).toEqual([
      'added a.py i',
      'a.py f -> a.py h',
    ])
  })

  it('follows thousands of one size, and gives up on thousands that are others', () => {
    const many = (name: string, value: number) =>
      Array.from({ length: 1_500 }, (_, at) => `def ${name}${at + 1_000}():\n    return ${value + at}\n`).join('')
    const before = { 'a.py': many('old', 10_000) }
    expect(compareWithTexts(before, { 'a.py': many('new', 10_000) }).moved).toHaveLength(1_500)
    expect(compareWithTexts(before, { 'b.py': many('new', 20_000) })).toMatchObject({ moved: [], unchanged: 0 })
  })

  it('takes neither an edited node, nor one of another kind, for a renamed one', () => {
    const edited = compareWithTexts({ 'a.py': f }, { 'a.py': 'def h(x):\n    return x + 2\n' })
    expect(told(edited)).toEqual(['added a.py h', 'removed a.py f'])
    const other = compareWithTexts({ 'a.py': classWith('A', f) }, { 'a.py': named('h') })
    expect(told(other)).toEqual(['added a.py h', 'removed a.py A', 'removed a.py A.f'])
  })
})
