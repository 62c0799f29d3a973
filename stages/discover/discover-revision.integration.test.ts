import { execFileSync } from 'node:child_process'
import { access, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lacks } from '#testing/this-machine.ts'
import { discoverFolder } from './discover-folder.ts'
import { discoverRevision } from './discover-revision.ts'

let top: string

beforeEach(async () => {
  top = await mkdtemp(join(tmpdir(), 'remora-revision-'))
})
afterEach(() => rm(top, { recursive: true }))

const git = (...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=n@e', ...args], { cwd: top, encoding: 'utf8' })

async function commit(files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(top, path)), { recursive: true })
    await writeFile(join(top, path), text)
  }
  git('init', '--quiet')
  git('add', '--all', '--force')
  git('commit', '--quiet', '--message', 'next')
}

const signal = new AbortController().signal
const at = (revision: string, folder = top) => discoverRevision(folder, revision, { threads: 1 }, signal)
const now = (folder = top) => discoverFolder(folder, { threads: 1 }, signal)

describe.skipIf(lacks('git'))('discoverRevision', () => {
  it('finds at HEAD what is found in the folder, whatever the files hold and are called', async () => {
    await commit({
      'src/a.py': 'class A:\n    def m(self): pass\n',
      'src/name with spaces "and" é\n.py': '\uFEFFdef é():\r\n    return "😀"\r\n',
      'empty.py': '',
      'no_line_end.py': 'x = 1',
      'notes.txt': 'text\n',
      'large.py': `# ${'x'.repeat(80)}\n`.repeat(3000),
      'binary.bin': Buffer.from([0, 1, 10, 0, 10]),
      'latin.py': Buffer.from('# \xe9\n', 'latin1'),
      '.hidden/a.py': '',
      'node_modules/a.py': '',
    })
    const [found, there] = [await at('HEAD'), await now()]
    expect(found.nodes).toEqual(there.nodes)
    expect(found.nodes.length).toBeGreaterThan(7)
    expect(found.skipped).toEqual(expect.arrayContaining([{ path: 'latin.py', reason: 'not UTF-8' }]))
  })

  it('parses a content once, in whichever revision it is', async () => {
    const options = { threads: 1, indexDir: join(top, '.git/index-of-nodes') }
    const parsed = async (revision: string) => (await discoverRevision(top, revision, options, signal)).parsed
    await commit({ 'a.py': 'def a(): pass\n', 'b.py': 'def b(): pass\n' })
    await commit({ 'b.py': 'def b(): return 2\n', 'c.py': 'def c(): pass\n' })
    expect([await parsed('HEAD~1'), await parsed('HEAD'), await parsed('HEAD')]).toEqual([2, 2, 0])
    const { nodes } = await discoverRevision(top, 'HEAD', options, signal)
    expect(nodes).toEqual((await at('HEAD')).nodes)
  })

  it('finds what was there, below the folder alone, and touches no file', async () => {
    await commit({ 'sub/a.py': 'def old(): pass\n', 'b.py': '' })
    await commit({ 'sub/a.py': 'def new(): pass\n' })
    await writeFile(join(top, 'sub/a.py'), 'def newest(): pass\n')
    const names = (await at('HEAD~1', join(top, 'sub'))).nodes.map(({ path, name }) => `${path} ${name}`)
    expect(names).toEqual(['a.py a.py', 'a.py old'])
    expect((await now()).nodes.map(({ name }) => name)).toContain('newest')
  })

  it('takes tags, branches and short names, links for what they are, and a thousand files', async () => {
    await symlink('/etc/hostname', join(top, 'link.py'))
    const many = Array.from({ length: 1000 }, (_, n) => [`m/f${n}.py`, `def f${n}(): pass\n`] as const)
    await commit(Object.fromEntries(many))
    git('tag', 'v1')
    const found = await at('v1')
    expect(found.nodes).toHaveLength(2000)
    expect(found.skipped).toEqual([{ path: 'link.py', reason: 'symbolic link' }])
    expect((await at(git('rev-parse', '--short', 'HEAD').trim())).nodes).toEqual(found.nodes)
  })

  it('names submodules, and takes what is tracked although .gitignore names it', async () => {
    await commit({ 'a.py': '', '.gitignore': 'a.py\n' })
    const own = git('rev-parse', 'HEAD').trim()
    git('update-index', '--add', '--cacheinfo', `160000,${own},libs/x`)
    git('commit', '--quiet', '--message', 'a submodule')
    const { nodes, skipped } = await at('HEAD')
    expect(nodes.map(({ path }) => path)).toEqual(['a.py'])
    expect(skipped).toContainEqual({ path: 'libs/x', reason: 'submodule' })
  })

  it.each(['--help', '-1', '--output=/tmp/x', 'nothing', 'HEAD~5', 'HEAD..HEAD', 'HEAD:a.py', ''])(
    'refuses %j, which names no tree',
    async (revision) => {
      await commit({ 'a.py': '' })
      await expect(at(revision)).rejects.toMatchObject({ code: 'DISC_005', message: expect.stringContaining(revision) })
    },
  )

  it('names the branches and tags there are where a revision is none, as wrong usage', async () => {
    await commit({ 'a.py': '' })
    git('branch', '-M', 'trunk')
    git('tag', 'v1')
    const message = expect.stringMatching(/"nosuchrev" is neither .*; it has (?:trunk, v1|v1, trunk)$/)
    await expect(at('nosuchrev')).rejects.toMatchObject({ code: 'DISC_005', message, phase: 'usage' })
  })

  it('refuses any revision of a folder that is in no repository', async () => {
    await expect(at('HEAD')).rejects.toMatchObject({ code: 'DISC_005' })
  })

  it('skips a file whose content git has lost, with DISC_005', async () => {
    await commit({ 'a.py': 'def f(): pass\n', 'b.py': 'def g(): pass\n' })
    const lost = git('rev-parse', 'HEAD:a.py').trim()
    await rm(join(top, '.git/objects', lost.slice(0, 2), lost.slice(2)), { force: true })
    const found = await at('HEAD')
    expect(found.nodes.map(({ name }) => name)).toEqual(['b.py', 'g'])
    expect(found.skipped).toEqual([{ path: 'a.py', reason: expect.stringContaining('DISC_005') }])
  })

  it('starts no program that the repository names to get what it lacks', async () => {
    await commit({ 'a.py': 'def f(): pass\n' })
    const lost = git('rev-parse', 'HEAD:a.py').trim()
    await rm(join(top, '.git/objects', lost.slice(0, 2), lost.slice(2)), { force: true })
    const said = join(top, '.git/started')
    for (const [name, value] of [
      ['core.repositoryFormatVersion', '1'],
      ['extensions.partialClone', 'origin'],
      ['remote.origin.promisor', 'true'],
      ['remote.origin.url', 'ssh://nobody.invalid/x'],
      ['core.sshCommand', `touch ${said}; false`],
      ['protocol.ssh.allow', 'always'],
    ])
      git('config', name ?? '', value ?? '')
    const { skipped } = await at('HEAD')
    expect(skipped).toEqual([{ path: 'a.py', reason: expect.stringContaining('DISC_005') }])
    await expect(access(said)).rejects.toThrow('ENOENT')
  })

  it('stops when it is interrupted', async () => {
    await commit({ 'a.py': '' })
    const stop = new AbortController()
    const found = discoverRevision(top, 'HEAD', { threads: 1 }, stop.signal)
    stop.abort(new Error('interrupted'))
    await expect(found).rejects.toThrow('interrupted')
  })
})
