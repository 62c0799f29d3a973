import { afterAll, describe, expect, it } from 'vitest'
import type { BaseLayer } from '../../workspace/base-layer.ts'
import { openWorkspace } from '../../workspace/open-workspace.ts'
import { openLineSearcher } from '../../workspace/search-files.ts'
import { fileExternals } from './attempt-externals.ts'

const empty: BaseLayer = {
  find: () => undefined,
  kindAt: () => undefined,
  list: () => [],
  read: async () => new Uint8Array(),
}

const searcher = openLineSearcher()
afterAll(searcher.close)

async function reading(text: string, ...lines: (number | null)[]): Promise<unknown> {
  const workspace = openWorkspace(empty)
  await workspace.writeText('a.py', text)
  return fileExternals(workspace, searcher)['read_file']?.(['a.py', ...lines])
}

const ten = Array.from({ length: 10 }, (_, at) => `${at + 1}\n`).join('')

describe('read_file', () => {
  it('reads all, or the lines asked for, both included', async () => {
    expect(await reading(ten)).toBe(ten)
    expect(await reading(ten, null, null)).toBe(ten)
    expect(await reading(ten, 2, 3)).toBe('2\n3\n')
    expect(await reading(ten, null, 2)).toBe('1\n2\n')
    expect(await reading(ten, 9)).toBe('9\n10\n')
    expect(await reading('a\r\nb', 2, 2)).toBe('b')
  })

  it('ends with the file when more is asked for', async () => {
    expect(await reading(ten, 10, 500)).toBe('10\n')
  })

  it.each([
    ['start_line (5) must be <= end_line (2)', 5, 2],
    ['start_line (100) is beyond end of file (10 lines)', 100, 200],
    ['start_line (0) must be at least 1', 0, 3],
    ['start_line (-4) must be at least 1', -4, 3],
  ])('refuses with "%s"', async (words, from, to) => {
    await expect(reading(ten, from, to)).rejects.toThrow(words)
  })
})

describe('externals on several files', () => {
  const externals = () => {
    const workspace = openWorkspace(empty)
    const known = fileExternals(workspace, searcher)
    return { workspace, call: async (name: string, ...args: unknown[]) => known[name]?.(args) }
  }

  it('write, read, find, search, rename and delete them', async () => {
    const { workspace, call } = externals()
    expect(await call('write_files', { 'src/a.py': 'x = 1\n', 'src/b.py': 'é = 2\n', 'c.txt': '1\n' })).toEqual({
      files: 3,
      bytes: 15,
    })
    expect(await call('find_files', 'src/*.py')).toEqual(['src/a.py', 'src/b.py'])
    expect(await call('search_files', '1')).toEqual([
      { path: 'c.txt', line: 1, text: '1' },
      { path: 'src/a.py', line: 1, text: 'x = 1' },
    ])
    expect(await call('search_files', '^. = \\d$', 'src', true)).toHaveLength(2)
    expect(await call('rename_file', 'src/a.py', 'src/d.py')).toEqual({ path: 'src/a.py', new_path: 'src/d.py' })
    expect(await call('delete_file', 'c.txt')).toEqual({ path: 'c.txt' })
    expect(await call('read_files', ['src/d.py', 'src/b.py'])).toEqual(
      new Map([
        ['src/d.py', 'x = 1\n'],
        ['src/b.py', 'é = 2\n'],
      ]),
    )
    expect(await call('write_file', 'run.sh', '#!\n', true)).toEqual({ path: 'run.sh', bytes: 3 })
    expect(await workspace.changes()).toMatchObject([{ executable: true }, { path: 'src/b.py' }, { path: 'src/d.py' }])
  })

  it.each([
    ['read_files', 'a.py', 'paths must be a list'],
    ['read_files', [1], 'each of paths must be a string'],
    ['write_files', ['a.py'], 'files must be a dict'],
    ['write_files', { 'a.py': 1 }, 'each value of files must be a string'],
    ['find_files', '!a', 'cannot be said'],
    ['search_files', '', 'there is nothing to look for'],
    ['delete_file', 'nope.py', 'no such file: nope.py'],
  ])('%s refuses %j: %s', async (name, argument, words) => {
    await expect(externals().call(name, argument)).rejects.toThrow(words)
  })
})
