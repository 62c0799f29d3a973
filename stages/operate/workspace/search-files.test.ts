import { afterAll, describe, expect, it } from 'vitest'
import { baseOver } from './base-over.fixture.ts'
import { openWorkspace } from './open-workspace.ts'
import { findFiles, openLineSearcher, type SearchQuery, searchFiles } from './search-files.ts'

const searcher = openLineSearcher()
afterAll(searcher.close)

const workspaceWith = (contents: Parameters<typeof baseOver>[0]) => openWorkspace(baseOver(contents))

const contents = {
  'a.py': 'import os\r\nx = 1',
  'src/b.py': 'import sys\n',
  'src/deep/c.py': 'x = 2\n',
  'src/bin.dat': Uint8Array.of(0xff, 10),
  'docs/d.md': '# x = 3\n',
}

const search = (text: string, over: Partial<SearchQuery> = {}, workspace = workspaceWith(contents)) =>
  searchFiles(workspace, { text, isExpression: false, paths: '', ...over }, searcher)

describe('files', () => {
  it.each([
    ['', ['a.py', 'docs/d.md', 'src/b.py', 'src/bin.dat', 'src/deep/c.py']],
    ['*.py', ['a.py']],
    ['**/*.py', ['a.py', 'src/b.py', 'src/deep/c.py']],
    ['src', ['src/b.py', 'src/bin.dat', 'src/deep/c.py']],
    ['./src/b.py', ['src/b.py']],
    ['{docs,src/deep}/*', ['docs/d.md', 'src/deep/c.py']],
    ['none/**', []],
  ])('are found by %j', (pattern, found) => {
    expect(findFiles(workspaceWith(contents), pattern)).toEqual(found)
  })

  it('are found as they are now, and only the folders that were looked into count as read', async () => {
    const workspace = workspaceWith(contents)
    await workspace.deleteFile('src/b.py')
    await workspace.writeText('src/new.py', '')
    expect(findFiles(workspace, 'src/*.py')).toEqual(['src/new.py'])
    expect(Object.keys(workspace.reads().listings)).toEqual(['src', 'src/deep'])
  })

  it('are not too many', async () => {
    const workspace = workspaceWith(Object.fromEntries(Array.from({ length: 10_001 }, (_, at) => [`${at}.py`, ''])))
    expect(() => findFiles(workspace, '**')).toThrow('more than 10000 files match: look for less at once')
    await expect(search('x', {}, workspace)).rejects.toMatchObject({ kind: 'too-large' })
  })
})

describe('lines', () => {
  it('are found by a text, without files that are no text, and what was looked at counts as read', async () => {
    const workspace = workspaceWith(contents)
    await workspace.writeText('src/new.py', 'x = 4\n')
    expect(await search('x = ', { paths: '**/*.py' }, workspace)).toEqual([
      { path: 'a.py', line: 2, text: 'x = 1' },
      { path: 'src/deep/c.py', line: 1, text: 'x = 2' },
      { path: 'src/new.py', line: 1, text: 'x = 4' },
    ])
    expect(Object.keys(workspace.reads().contents).toSorted()).toEqual(['a.py', 'src/b.py', 'src/deep/c.py'])
    expect(await search('import')).toHaveLength(2)
  })

  it('are found by an expression', async () => {
    const found = await search('^x\\s*=\\s*[12]$', { isExpression: true })
    expect(found.map(({ path, line }) => `${path}:${line}`)).toEqual(['a.py:2', 'src/deep/c.py:1'])
  })

  it('are not looked for by an expression that is none, or by nothing', async () => {
    await expect(search('(', { isExpression: true })).rejects.toMatchObject({ kind: 'refused' })
    await expect(search('')).rejects.toMatchObject({ kind: 'refused' })
    await expect(search('x'.repeat(1_001))).rejects.toMatchObject({ kind: 'refused' })
  })

  it('are looked for no longer than the limit, and the next search is none the worse', async () => {
    const hasty = openLineSearcher({ limitMs: 1_000 })
    const texts = [{ path: 'a.py', text: `${'a'.repeat(60)}!` }]
    const find = (text: string) => hasty.find({ text, isExpression: true }, async () => texts)
    const tooSlow = { kind: 'refused', message: expect.stringContaining('1000 ms') }
    await expect(find('^(a+)+$')).rejects.toMatchObject(tooSlow)
    expect(await find('a!$')).toHaveLength(1)
    await hasty.close()
  })

  it('are not too many, and long ones are cut', async () => {
    const many = workspaceWith({ 'a.py': 'x\n'.repeat(1_001) })
    await expect(search('x', {}, many)).rejects.toMatchObject({ kind: 'too-large' })
    await expect(search('x', { isExpression: true }, many)).rejects.toMatchObject({ kind: 'too-large' })
    expect(await search('x', {}, workspaceWith({ 'a.py': 'x'.repeat(9_000) }))).toMatchObject([
      { text: 'x'.repeat(500) },
    ])
  })

  it('are looked for in no more than so many bytes', async () => {
    const large = Object.fromEntries(Array.from({ length: 6 }, (_, at) => [`${at}.txt`, 'a'.repeat(4_000_000) + at]))
    await expect(search('x', {}, workspaceWith(large))).rejects.toMatchObject({ kind: 'too-large' })
  })
})
