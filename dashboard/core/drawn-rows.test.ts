import { expect, test } from 'vitest'
import { parseDiff } from '#domain/read-diff.ts'
import { languageOf, loadHighlight } from './diff-highlight.ts'
import { markWords, pairLines, segmentsOf } from './drawn-rows.ts'

function pairsOf(body: string, [before, after]: [number, number]) {
  const [hunk] =
    parseDiff(`diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,${before} +1,${after} @@\n${body}`)[0]?.hunks ?? []
  return hunk === undefined ? [] : pairLines(hunk)
}

test('a removed line stands beside the line that replaces it, and the rest beside nothing', () => {
  const pairs = pairsOf(' a\n-b\n-c\n+B\n d\n+e\n', [4, 4])
  expect(pairs.map(({ left, right }) => [left?.text, right?.text])).toEqual([
    ['a', 'a'],
    ['b', 'B'],
    ['c', undefined],
    ['d', 'd'],
    [undefined, 'e'],
  ])
})

test('only what has changed within a line is marked', () => {
  const pairs = pairsOf('-if not name in self.items:\n+if name not in self.items:\n', [1, 1])
  const marks = markWords(pairs)
  const marked = [pairs[0]?.left, pairs[0]?.right].map((line) =>
    line === undefined ? [] : (marks.get(line) ?? []).map(({ start, end }) => line.text.slice(start, end).trim()),
  )
  expect(marked).toEqual([['not'], ['not']])
})

test('lines that have little in common, and very long ones, have no marks', () => {
  expect(markWords(pairsOf('-alpha beta gamma\n+one two three\n', [1, 1])).size).toBe(0)
  expect(markWords(pairsOf(`-${'a '.repeat(300)}x\n+${'a '.repeat(300)}y\n`, [1, 1])).size).toBe(0)
})

test('tokens are cut where marks begin and end, and no character is lost', () => {
  const tokens = [
    { text: 'return ', scope: 'keyword' },
    { text: 'total', scope: undefined },
  ]
  const segments = segmentsOf(tokens, [{ start: 3, end: 9 }])
  expect(segments.map(({ text, scope, isMarked }) => [text, scope, isMarked])).toEqual([
    ['ret', 'keyword', false],
    ['urn ', 'keyword', true],
    ['to', undefined, true],
    ['tal', undefined, false],
  ])
})

test('what goes over several lines keeps its colour in each, and nothing becomes HTML', async () => {
  const highlight = await loadHighlight('python')
  const lines = highlight(['x = """<b>', 'inside', '"""'])
  expect(lines.map((tokens) => tokens.at(-1)?.scope)).toEqual(['string', 'string', 'string'])
  expect(lines[0]?.map(({ text }) => text).join('')).toBe('x = """<b>')
})

test('the language of a file is known by its ending or its name', () => {
  expect(['a/b.py', 'x.tsx', 'x.h', 'Gemfile', 'a.unknown', 'py'].map(languageOf)).toEqual([
    'python',
    'typescript',
    'cpp',
    'ruby',
    undefined,
    'python',
  ])
})
