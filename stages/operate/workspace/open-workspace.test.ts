import { describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { baseOver } from './base-over.fixture.ts'
import { openWorkspace } from './open-workspace.ts'

const files = { 'a.py': 'x = 1\n', 'pkg/b.py': '\uFEFFy = 2\r\n', 'bin.dat': Uint8Array.of(0xff, 0xfe, 0) }

describe('a workspace', () => {
  it('creates files, lists them, and says what was read, listed and found absent', async () => {
    const workspace = openWorkspace(baseOver(files))
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

  it('reads and writes many files at once, all or none, up to a limit', async () => {
    const workspace = openWorkspace(baseOver(files))
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
    const workspace = openWorkspace(baseOver(files))
    await expect(workspace.writeText('a.py', `${'🙂'.slice(0, 1)}\n`)).rejects.toMatchObject({ kind: 'not-text' })
  })

  it.each(['/etc/passwd', '../x', 'a/../../x', 'a\0b', 'a\\b', ''])('refuses the path %j', async (path) => {
    const workspace = openWorkspace(baseOver(files))
    await expect(workspace.readText(path)).rejects.toMatchObject({ code: 'TOOL_007' })
    await expect(workspace.writeText(path, 'x')).rejects.toMatchObject({ code: 'TOOL_007' })
    await expect(workspace.deleteFile(path)).rejects.toMatchObject({ code: 'TOOL_007' })
    await expect(workspace.renameFile('a.py', path)).rejects.toMatchObject({ code: 'TOOL_007' })
  })
})
