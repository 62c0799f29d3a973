import { expect, test } from 'vitest'
import { parseDiff } from './read-diff.ts'

const head = (path: string) => `diff --git a/${path} b/${path}\nindex 1..2\n--- a/${path}\n+++ b/${path}\n`

test('lines have the numbers of both versions, and a hunk knows what is left out above it', () => {
  const [file] = parseDiff(`${head('a.py')}@@ -5,3 +5,3 @@ def f():\n a\n-b\n+B\n c\n@@ -20 +20,2 @@\n x\n+y\n`)
  expect(file).toMatchObject({ path: 'a.py', kind: 'edit', added: 2, removed: 1 })
  expect(file?.hunks.map(({ skipped }) => skipped)).toEqual([4, 12])
  const rows = file?.hunks[0]?.lines.map(({ kind, before, after, text }) => [kind, before, after, text])
  expect(rows).toEqual([
    ['same', 5, 5, 'a'],
    ['removed', 6, undefined, 'b'],
    ['added', undefined, 6, 'B'],
    ['same', 7, 7, 'c'],
  ])
})

test('a line without a newline at the end of the file says so, on the side that has it', () => {
  const [file] = parseDiff(`${head('a')}@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n`)
  expect(file?.hunks[0]?.lines.map(({ end }) => end)).toEqual(['no newline', undefined])
})

test('carriage returns are shown where a file mixes line ends, and only there', () => {
  const ends = (body: string) => parseDiff(`${head('a')}@@ -1,2 +1,3 @@\n${body}`)[0]?.hunks[0]?.lines
  expect(ends(' a\r\n b\r\n+c\r\n')?.map(({ text, end }) => [text, end])).toEqual([
    ['a', undefined],
    ['b', undefined],
    ['c', undefined],
  ])
  expect(ends(' a\r\n b\r\n+c\n')?.map(({ end }) => end)).toEqual([undefined, undefined, '␊'])
  expect(ends(' a\n b\n+c\r\n')?.map(({ end }) => end)).toEqual([undefined, undefined, '␍'])
})

test('a removed line that looks like the head of a file is a removed line', () => {
  const [file, ...others] = parseDiff(`${head('a')}@@ -1,2 +1 @@\n--- a/b\n x\n`)
  expect(file?.hunks[0]?.lines[0]).toMatchObject({ kind: 'removed', text: '-- a/b' })
  expect(others).toEqual([])
})

test('new, deleted, renamed, binary and executable files are told apart', () => {
  const files = parseDiff(
    [
      'diff --git a/n b/n\nnew file mode 100755\nindex 0..1\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x',
      'diff --git a/d b/d\ndeleted file mode 100644\nindex 1..0\n--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-x',
      'diff --git a/old b/new\nsimilarity index 100%\nrename from old\nrename to new',
      'diff --git a/i.png b/i.png\nindex 1..2\nBinary files a/i.png and b/i.png differ',
      'diff --git a/e b/e\nold mode 100644\nnew mode 100755',
    ].join('\n'),
  )
  expect(files.map(({ path, kind, notes }) => [path, kind, ...notes])).toEqual([
    ['n', 'create', 'is executable'],
    ['d', 'delete'],
    ['new', 'rename'],
    ['i.png', 'edit', 'is no text'],
    ['e', 'edit', 'becomes executable'],
  ])
  expect(files[2]?.renamedFrom).toBe('old')
  expect(files[0]?.hunks[0]).toMatchObject({ skipped: 0, lines: [{ before: undefined, after: 1 }] })
})

test('names with blanks, tabs, quotes and umlauts are read as git writes them', () => {
  const quoted = (name: string) =>
    `diff --git "a/${name}" "b/${name}"\n--- "a/${name}"\n+++ "b/${name}"\n@@ -1 +1 @@\n-a\n+b\n`
  const names = [quoted('t\\tb'), quoted('q\\"q\\\\'), quoted('\\303\\244.py')].map((diff) => parseDiff(diff)[0]?.path)
  expect(names).toEqual(['t\tb', 'q"q\\', 'ä.py'])
  expect(parseDiff('diff --git a/a b b/a b\n--- a/a b\t\n+++ b/a b\t\n@@ -1 +1 @@\n-a\n+b\n')[0]?.path).toBe('a b')
  expect(parseDiff('diff --git a/a b b/a b\nold mode 100644\nnew mode 100755\n')[0]?.path).toBe('a b')
})

test('what is no diff has no files', () => {
  expect(parseDiff('')).toEqual([])
  expect(parseDiff('<script>alert(1)</script>')).toEqual([])
})
