import { describe, expect, it } from 'vitest'
import { applyEdits, FileChange } from '#domain/change-set.ts'
import { sha256 } from '#domain/ids.ts'
import type { BaseLayer } from './base-layer.ts'
import { openWorkspace } from './open-workspace.ts'

function base(files: Record<string, string | Uint8Array>): BaseLayer {
  const blobs = new Map(Object.values(files).map((content) => [sha256(content), Buffer.from(content)]))
  return {
    find: (path) => (files[path] === undefined ? undefined : { hash: sha256(files[path]) }),
    kindAt: (path) => (files[path] === undefined ? undefined : 'file'),
    list: (folder) => (folder === '' ? ['a.py', 'pkg/'] : folder === 'pkg' ? ['b.py'] : []),
    read: async (hash) => blobs.get(hash) ?? Promise.reject(new Error('no blob')),
  }
}

const withBit = (file: ReturnType<BaseLayer['find']>) => file && { ...file, executable: true }

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

  it('hides what was deleted, says so in no listing, and makes it anew when it is written', async () => {
    const workspace = openWorkspace(base(files))
    await workspace.deleteFile('pkg/b.py')
    expect(workspace.exists('pkg/b.py')).toBe(false)
    expect(workspace.list('')).toEqual(['a.py'])
    expect(workspace.list('pkg')).toEqual([])
    await expect(workspace.readText('pkg/b.py')).rejects.toMatchObject({ kind: 'not-found' })
    await expect(workspace.deleteFile('pkg/b.py')).rejects.toMatchObject({ kind: 'not-found' })
    const baseHash = sha256('\uFEFFy = 2\r\n')
    expect(await workspace.changes()).toEqual([{ kind: 'delete', path: 'pkg/b.py', baseHash }])
    expect(workspace.reads()).toMatchObject({ contents: { 'pkg/b.py': baseHash }, absences: [] })
    await workspace.writeText('pkg/b.py', '\uFEFFy = 2\r\n')
    expect(workspace.list('')).toEqual(['a.py', 'pkg/'])
    expect(await workspace.changes()).toEqual([])
  })

  it('leaves nothing of a file that was made and deleted, nor of its folder', async () => {
    const workspace = openWorkspace(base(files))
    await workspace.writeText('new/c.py', 'z = 3\n')
    await workspace.deleteFile('new/c.py')
    expect(workspace.list('')).toEqual(['a.py', 'pkg/'])
    expect([await workspace.changes(), workspace.changedPaths(), workspace.written()]).toEqual([
      [],
      [],
      { written: [] },
    ])
    await workspace.writeText('new', 'now a file\n')
  })

  it('renames text as a deletion and a creation, with its executable bit, onto no other file', async () => {
    const layer = base(files)
    const find: BaseLayer['find'] = (path) => withBit(layer.find(path))
    const workspace = openWorkspace({ ...layer, find })
    await expect(workspace.renameFile('a.py', 'pkg/b.py')).rejects.toMatchObject({ kind: 'refused' })
    await expect(workspace.renameFile('bin.dat', 'c.dat')).rejects.toMatchObject({ kind: 'not-text' })
    await expect(workspace.renameFile('nope.py', 'c.py')).rejects.toMatchObject({ kind: 'not-found' })
    await expect(workspace.renameFile('a.py', 'a.py/c.py')).rejects.toMatchObject({ kind: 'refused' })
    expect(await workspace.changes()).toEqual([])
    await workspace.renameFile('a.py', 'c.py')
    expect(await workspace.changes()).toEqual([
      { kind: 'delete', path: 'a.py', baseHash: sha256('x = 1\n'), executable: true },
      { kind: 'create', path: 'c.py', content: 'x = 1\n', executable: true },
    ])
  })

  it('keeps the executable bit of what it writes, and a bit alone is a change', async () => {
    const layer = base(files)
    const workspace = openWorkspace({ ...layer, find: (path) => withBit(layer.find(path)) })
    await workspace.writeText('a.py', 'x = 2\n')
    await workspace.writeText('pkg/b.py', '\uFEFFy = 2\r\n', false)
    await workspace.writeText('run.sh', 'x\n', true)
    const changes = await workspace.changes()
    expect(changes.map(({ kind, executable }) => [kind, executable])).toEqual([
      ['edit', undefined],
      ['edit', false],
      ['create', true],
    ])
    expect(changes[1]).toMatchObject({ edits: [] })
    for (const change of changes) expect(FileChange.parse(change)).toEqual(change)
  })

  it('reads and writes many files at once, all or none, up to a limit', async () => {
    const workspace = openWorkspace(base(files))
    expect([...(await workspace.readTexts(['./a.py', 'a.py']))]).toEqual([['a.py', 'x = 1\n']])
    await expect(workspace.readTexts(['a.py', 'nope.py'])).rejects.toMatchObject({ kind: 'not-found' })
    const half = new Map([
      ['new.py', ''],
      ['a.py/below.py', ''],
    ])
    await expect(workspace.writeTexts(half)).rejects.toMatchObject({ kind: 'refused' })
    expect(workspace.changedPaths()).toEqual([])
    const many = Array.from({ length: 1_001 }, (_, at) => `f${at}.py`)
    await expect(workspace.readTexts(many)).rejects.toMatchObject({ kind: 'too-large' })
    const writing = workspace.writeTexts(new Map(many.map((path) => [path, ''])))
    await expect(writing).rejects.toMatchObject({ kind: 'too-large' })
    const large = new Map(['b.txt', 'c.txt'].map((path) => [path, 'x'.repeat(2_000_001)]))
    await expect(workspace.writeTexts(large)).rejects.toMatchObject({ kind: 'too-large' })
    for (const [path, text] of large) await workspace.writeText(path, text)
    await expect(workspace.readTexts([...large.keys()])).rejects.toMatchObject({ kind: 'too-large' })
  })

  it('writes no text that would become another one', async () => {
    const workspace = openWorkspace(base(files))
    await expect(workspace.writeText('a.py', `${'🙂'.slice(0, 1)}\n`)).rejects.toMatchObject({ kind: 'not-text' })
  })

  it('replaces a file that is no text by one that is, byte for byte', async () => {
    const workspace = openWorkspace(base(files))
    await workspace.writeText('bin.dat', 'é\n')
    const [change] = await workspace.changes()
    const edits = change?.kind === 'edit' ? change.edits : []
    expect(Buffer.from(applyEdits(await workspace.readBaseBytes('bin.dat'), edits)).toString()).toBe('é\n')
  })

  it.each(['/etc/passwd', '../x', 'a/../../x', 'a\0b', 'a\\b', ''])('refuses the path %j', async (path) => {
    const workspace = openWorkspace(base(files))
    await expect(workspace.readText(path)).rejects.toMatchObject({ code: 'TOOL_007' })
    await expect(workspace.writeText(path, 'x')).rejects.toMatchObject({ code: 'TOOL_007' })
    await expect(workspace.deleteFile(path)).rejects.toMatchObject({ code: 'TOOL_007' })
    await expect(workspace.renameFile('a.py', path)).rejects.toMatchObject({ code: 'TOOL_007' })
  })

  it('says that a missing file is missing and that a binary one is no text', async () => {
    const workspace = openWorkspace(base(files))
    await expect(workspace.readText('nope.py')).rejects.toMatchObject({ kind: 'not-found' })
    await expect(workspace.readText('bin.dat')).rejects.toMatchObject({ kind: 'not-text' })
  })
})
