import { execFileSync } from 'node:child_process'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SkipKind } from '#domain/run.ts'
import { discoverFolder } from './discover-folder.ts'

let top: string

beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'remora-discover-'))
})
afterEach(() => rm(top, { recursive: true }))

async function write(files: Record<string, string | Uint8Array>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(top, path)), { recursive: true })
    await writeFile(join(top, path), text)
  }
}

const discover = (root: string, include: SkipKind[] = []) =>
  discoverFolder(root, { threads: 1, filters: { include } }, new AbortController().signal)

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@e', ...args], { cwd: top, stdio: 'pipe' })

describe('discoverFolder', () => {
  it('gives the same ids for the same tree under another absolute path', async () => {
    await write({ 'one/src/a.py': 'class A:\n    def m(self): pass\n', 'one/b.py': 'def f(): pass\n' })
    await cp(join(top, 'one'), join(top, 'else/where/two'), { recursive: true })
    const one = await discover(join(top, 'one'))
    const two = await discover(join(top, 'else/where/two'))
    expect(one.nodes).toHaveLength(5)
    expect(two.nodes).toEqual(one.nodes)
  })

  it('applies the rules of the checkout a folder lies in, unless they ignore the folder itself', async () => {
    await write({ '.git/HEAD': '', '.gitignore': 'x.py\n/dist/\n', 'src/x.py': '', 'src/y.py': '', 'dist/x.py': '' })
    expect((await discover(join(top, 'src'))).nodes.map((node) => node.path)).toEqual(['y.py'])
    expect((await discover(join(top, 'dist'))).nodes.map((node) => node.path)).toEqual(['x.py'])
  })

  it('takes what git tracks for wanted, although .gitignore names it, and nothing else of its folder', async () => {
    await write({
      '.gitignore': 'build/\n*.gen.py\n',
      'build/tool/kept.py': '',
      'build/tool/made.py': '',
      'build/.gitignore': '!*\n',
      'a.gen.py': '',
      'b.gen.py': '',
    })
    git('init', '--quiet')
    git('add', '--force', 'build/tool/kept.py', 'a.gen.py')
    const { nodes, skipped } = await discover(top)
    expect(nodes.map((node) => node.path)).toEqual(['a.gen.py', 'build/tool/kept.py'])
    expect(skipped.filter(({ reason }) => reason === 'ignored by .gitignore').map(({ path }) => path)).toEqual([
      'b.gen.py',
      'build/.gitignore',
      'build/tool/made.py',
    ])
  })

  it('passes over submodules and other repositories inside a checkout, and none outside of one', async () => {
    await write({
      'own/.git/HEAD': '',
      'own/a.py': '',
      'own/.gitmodules': '[submodule "x"]\n\tpath = libs/x\n',
      'own/libs/x/.git': 'gitdir: ../../.git/modules/x\n',
      'own/libs/x/b.py': '',
      'own/clone/.git/HEAD': '',
      'own/clone/c.py': '',
      'other/.git/HEAD': '',
      'other/d.py': '',
    })
    const { nodes, skipped } = await discover(join(top, 'own'))
    expect(nodes.map((node) => node.path)).toEqual(['a.py'])
    expect(skipped).toEqual(
      expect.arrayContaining([
        { path: 'clone', reason: 'a git repository of its own' },
        { path: 'libs/x', reason: 'submodule' },
      ]),
    )
    const opened = await discover(join(top, 'own'), ['submodules'])
    expect(opened.nodes.map((node) => node.path)).toEqual(['a.py', 'clone/c.py', 'libs/x/b.py'])
    expect((await discover(top)).nodes.map((node) => node.path)).toEqual(['other/d.py', 'own/a.py', 'own/clone/c.py'])
  })

  it('says nothing of our own state and patches', async () => {
    await write({ 'a.py': '', '.remora/redis/x.py': '', 'remora-r0mc1x2y3zabcdefgh.patch': '' })
    const { nodes, skipped } = await discover(top)
    expect(nodes.map((node) => node.path)).toEqual(['a.py'])
    expect(skipped).toEqual([])
  })

  it('follows no link and enters no vendored folder, and says so', async () => {
    await write({ 'a.py': '', 'env/pyvenv.cfg': '', 'env/lib.py': '', 'node_modules/x/i.py': '' })
    await symlink(join(top, 'a.py'), join(top, 'link.py'))
    await symlink(top, join(top, 'loop'))
    const { nodes, skipped } = await discover(top)
    expect(nodes.map((node) => node.path)).toEqual(['a.py'])
    expect(skipped).toEqual([
      { path: 'env', reason: 'vendored' },
      { path: 'link.py', reason: 'symbolic link' },
      { path: 'loop', reason: 'symbolic link' },
      { path: 'node_modules', reason: 'vendored' },
    ])
  })

  it('finds the nodes of Python in the encoding that it declares, at the bytes of the file', async () => {
    const shiftJis = Buffer.concat([
      Buffer.from('# -*- coding: shift_jis -*-\nclass A:\n    """'),
      // Two characters of two bytes, the first of which ends in a backslash, and one of one byte.
      Buffer.from([0x95, 0x5c, 0x8e, 0xa6, 0xb1]),
      Buffer.from('"""\n\n    def f(self):\n        return 1\n'),
    ])
    await write({ 'sjis.py': shiftJis })
    const { nodes, skipped } = await discover(top)
    expect(skipped).toEqual([])
    const method = nodes.find(({ qualifiedName }) => qualifiedName === 'A.f')
    expect(shiftJis.subarray(method?.startByte, method?.endByte).toString()).toBe('def f(self):\n        return 1')
  })

  it('is not held up by ignore rules that backtrack, nor by a folder without end', async () => {
    const deep = Array.from({ length: 60 }, (_, at) => (at < 10 ? 'c' : 'a')).join('/')
    await write({ '.gitignore': `x.py\n${'**/a/'.repeat(12)}b\n`, 'x.py': '', [`${deep}/c.py`]: '' })
    await write({ [`${'b/'.repeat(70)}d.py`]: '' })
    const { nodes, skipped } = await discover(top)
    expect(nodes.map((node) => node.path)).toEqual([`${deep}/c.py`])
    expect(skipped).toContainEqual({ path: 'x.py', reason: 'ignored by .gitignore' })
    expect(skipped).toContainEqual({ path: 'b/'.repeat(65).slice(0, -1), reason: 'deeper than 64 folders' })
  })

  it('waits for no pipe that is called .gitignore, and follows no link of that name', async () => {
    await write({ 'pipe/a.py': '', 'link/a.py': '', rules: 'a.py\n' })
    execFileSync('mkfifo', [join(top, 'pipe/.gitignore')])
    await symlink('../rules', join(top, 'link/.gitignore'))
    const { nodes } = await discover(top)
    expect(nodes.map((node) => node.path)).toEqual(['link/a.py', 'pipe/a.py', 'rules'])
  })

  it('takes no name that is not UTF-8 for another file, so that no two nodes have one id', async () => {
    for (const last of ['\xff', '\xfe']) await writeFile(Buffer.from(`${top}/a${last}.py`, 'latin1'), 'def f(): pass\n')
    await write({ 'a\uFFFD.py': 'def f(): pass\n', 'b.py': '' })
    const { nodes, skipped } = await discover(top)
    expect(nodes.map((node) => node.path)).toEqual(['b.py'])
    expect(skipped).toEqual(Array.from({ length: 3 }, () => ({ path: 'a\uFFFD.py', reason: 'the name is not UTF-8' })))
  })

  it('says near which line a file does not parse when no definition holds the error', async () => {
    await write({ 'a.c': 'int one;\n\nMACRO_BEGIN\nstruct S { int a; };\n', 'b.py': 'def f(:\n  pass\n\nx = (\n' })
    const { nodes, skipped } = await discover(top)
    expect(nodes.map((node) => node.path)).toEqual(expect.arrayContaining(['a.c', 'b.py']))
    expect(skipped).toEqual([
      { path: 'a.c', reason: expect.stringMatching(/^does not parse: near line [34]$/) },
      { path: 'b.py', reason: expect.stringMatching(/^does not parse: /) },
    ])
  })

  it('refuses a folder that is not there', async () => {
    await expect(discover(join(top, 'none'))).rejects.toMatchObject({ code: 'DISC_005' })
  })
})
