import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { openWorkspace, type BaseLayer } from './open-workspace.ts'

function base(files: Record<string, string | Uint8Array>): BaseLayer {
  const blobs = new Map(Object.values(files).map((content) => [sha256(content), Buffer.from(content)]))
  return {
    find: (path) => (files[path] === undefined ? undefined : { hash: sha256(files[path]) }),
    kindAt: (path) => (files[path] === undefined ? undefined : 'file'),
    list: (folder) => (folder === '' ? ['a.py', 'pkg/'] : folder === 'pkg' ? ['b.py'] : []),
    read: async (hash) => blobs.get(hash) ?? Promise.reject(new Error('no blob')),
  }
}

const files = { 'a.py': 'x = 1\n', 'pkg/b.py': '\uFEFFy = 2\r\n', 'bin.dat': Uint8Array.of(0xff, 0xfe, 0) }

describe('a workspace', () => {
  it('reads through, keeps writes to itself and answers them as edits on the base blob', async () => {
    const workspace = openWorkspace(base(files))
    await workspace.writeText('a.py', 'x = 2\n')
    expect(await workspace.readText('a.py')).toBe('x = 2\n')
    expect(await workspace.readBase('a.py')).toBe('x = 1\n')
    expect(await workspace.changes()).toEqual([
      { kind: 'edit', path: 'a.py', baseHash: sha256('x = 1\n'), edits: [{ start: 4, end: 5, text: '2' }] },
    ])
  })

  it('counts a file written back as it was as unchanged', async () => {
    const workspace = openWorkspace(base(files))
    await workspace.writeText('a.py', 'x = 1\n')
    expect(await workspace.changes()).toEqual([])
  })

  it('keeps byte order mark and CRLF', async () => {
    const workspace = openWorkspace(base(files))
    await workspace.writeText('pkg/b.py', (await workspace.readText('pkg/b.py')).replace('2', '3'))
    expect(await workspace.changes()).toMatchObject([{ edits: [{ start: 7, end: 8, text: '3' }] }])
  })

  it('creates files, lists them, and says what was read, listed and found absent', async () => {
    const workspace = openWorkspace(base(files))
    await workspace.writeText('pkg/new/c.py', 'z = 3\n')
    expect(workspace.list('pkg')).toEqual(['b.py', 'new/'])
    expect(workspace.exists('nope.py')).toBe(false)
    await workspace.readText('a.py')
    expect(await workspace.changes()).toEqual([{ kind: 'create', path: 'pkg/new/c.py', content: 'z = 3\n' }])
    const reads = workspace.reads()
    expect(reads.contents).toEqual({ 'a.py': sha256('x = 1\n') })
    expect(Object.keys(reads.listings)).toEqual(['pkg'])
    expect(reads.absences).toContain('nope.py')
  })

  it.each(['/etc/passwd', '../x', 'a/../../x', 'a\0b', 'a\\b', ''])('refuses the path %j', async (path) => {
    const workspace = openWorkspace(base(files))
    await expect(workspace.readText(path)).rejects.toMatchObject({ code: 'TOOL_007' })
    await expect(workspace.writeText(path, 'x')).rejects.toMatchObject({ code: 'TOOL_007' })
  })

  it('says that a missing file is missing and that a binary one is no text', async () => {
    const workspace = openWorkspace(base(files))
    await expect(workspace.readText('nope.py')).rejects.toMatchObject({ kind: 'not-found' })
    await expect(workspace.readText('bin.dat')).rejects.toMatchObject({ kind: 'not-text' })
  })
})
