import { execFile } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { PlannedFile } from '#domain/planned-commit.ts'
import { lacks } from '#testing/this-machine.ts'
import type { NewCommit } from './code-host.ts'
import { openGitRemote } from './git-remote.ts'

const execute = promisify(execFile)
const identity = {
  GIT_AUTHOR_NAME: 'T',
  GIT_AUTHOR_EMAIL: 't@example.org',
  GIT_COMMITTER_NAME: 'T',
  GIT_COMMITTER_EMAIL: 't@example.org',
}
const env = { PATH: process.env['PATH'], GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', ...identity }

describe.skipIf(lacks('git'))('a plain git remote', () => {
  let dir = ''
  const at = (name: string) => join(dir, name)
  const git = async (cwd: string, ...args: string[]) => {
    return (await execute('git', args, { cwd, env, maxBuffer: 2 ** 26 })).stdout.trim()
  }
  const bare = (...args: string[]) => git(at('bare.git'), ...args)
  const local = (...args: string[]) => git(at('local'), ...args)
  const write = async (files: Readonly<Record<string, string>>) => {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(join(at('local'), path)), { recursive: true })
      await writeFile(join(at('local'), path), content)
    }
  }
  const commit = async (message: string) => {
    await local('add', '-A')
    await local('commit', '-qm', message)
    await local('push', '-q', 'origin', 'HEAD')
    return local('rev-parse', 'HEAD')
  }
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-remote-'))
    await git(dir, 'init', '-q', '--bare', '-b', 'main', 'bare.git')
    await git(dir, 'init', '-q', '-b', 'main', 'local')
    await local('remote', 'add', 'origin', at('bare.git'))
    await write({ 'a.py': 'one\n', 'crlf.txt': 'one\r\n', 'sub/gone': 'g\n', 'ümläut 🙂.md': 'u\n' })
    await commit('first')
  })
  afterEach(() => rm(dir, { recursive: true, force: true }))

  let opened = 0
  async function remote(url = at('bare.git')) {
    const scratch = at(`scratch-${opened++}`)
    await mkdir(scratch)
    const signal = AbortSignal.timeout(60_000)
    return openGitRemote({ url, scratch, trailer: 'Remora-Run', env, isInteractive: false, signal })
  }
  const file = (path: string, content: string | null, executable = false): PlannedFile => {
    return { path, executable, content: content === null ? null : Buffer.from(content), baseHash: null }
  }
  const made = (title: string, ...files: PlannedFile[]): NewCommit => {
    return { message: `${title}\n\nRemora-Run: r012345678\nRemora-Agent: ${title}\n`, files }
  }
  async function publish(commits: NewCommit[], branch = 'remora/main', url?: string) {
    const host = await remote(url)
    const base = await host.findBranch(null)
    return host.publishBranch({ branch, base: base?.commit ?? '', baseBranch: base?.name ?? '', commits })
  }
  const titles = async (branch = 'remora/main') => (await bare('log', '--format=%s', branch)).split('\n')

  it('has its default branch, its tree and the bytes of its files', async () => {
    await symlink('a.py', join(at('local'), 'link'))
    await chmod(join(at('local'), 'a.py'), 0o755)
    const head = await commit('modes')
    const host = await remote()
    expect(await host.findBranch(null)).toEqual({ name: 'main', commit: head })
    expect(await host.findBranch('none')).toBeUndefined()
    const tree = await host.readTree(head)
    expect(Object.fromEntries(Array.from(tree, ([path, { mode }]) => [path, mode]))).toEqual({
      'a.py': '100755',
      'crlf.txt': '100644',
      link: '120000',
      'sub/gone': '100644',
      'ümläut 🙂.md': '100644',
    })
    expect(Buffer.from(await host.readBlob(tree.get('crlf.txt')?.sha ?? '')).toString()).toBe('one\r\n')
    await expect(host.readBlob('0'.repeat(40))).rejects.toMatchObject({ code: 'HOST_004' })
    await expect(host.readTree('0'.repeat(40))).rejects.toMatchObject({ code: 'HOST_004' })
  })

  it('gets commits with new, changed and deleted files, their modes and their bytes, on top of the base', async () => {
    const commits = [
      made('lint', file('a.py', 'two\n'), file('crlf.txt', 'two\r\n'), file('neu/ö 🙂', 'n\n')),
      made('docstring', file('a.py', 'three\n', true), file('sub/gone', null), file('sub', 'now a file\n')),
    ]
    const { head, result } = await publish(commits)
    expect([result, await bare('rev-parse', 'remora/main')]).toEqual(['created', head])
    expect(await titles()).toEqual(['docstring', 'lint', 'first'])
    expect(await bare('-c', 'core.quotePath=false', 'ls-tree', '-r', '--format=%(objectmode) %(path)', head)).toBe(
      ['100755 a.py', '100644 crlf.txt', '100644 neu/ö 🙂', '100644 sub', '100644 ümläut 🙂.md'].join('\n'),
    )
    expect(await bare('show', `${head}:crlf.txt`)).toBe('two')
    expect(await bare('cat-file', '-s', `${head}:crlf.txt`)).toBe('5')
    expect(await bare('show', `${head}~:a.py`)).toBe('two')
    expect(await bare('log', '-1', '--format=%an <%ae> %cn', head)).toBe('T <t@example.org> T')
    await bare('fsck', '--strict')
    const host = await remote()
    await host.readTree(head)
    const first = await bare('rev-parse', 'main')
    await host.readTree(first)
    expect(await host.compare(first, head)).toEqual(['a.py', 'crlf.txt', 'neu/ö 🙂', 'sub', 'sub/gone'])
  })

  it('gets nothing again, and other commits in the place of its own', async () => {
    const first = await publish([made('lint', file('a.py', 'two\n'))])
    expect(await publish([made('lint', file('a.py', 'two\n'))])).toEqual({ head: first.head, result: 'unchanged' })
    const second = await publish([made('lint', file('a.py', 'three\n')), made('test', file('t.py', 't\n'))])
    expect(second.result).toBe('updated')
    expect(await titles()).toEqual(['test', 'lint', 'first'])
    await write({ 'other.py': 'o\n' })
    await commit('second')
    expect(await publish([made('lint', file('a.py', 'three\n'))])).toMatchObject({ result: 'updated' })
    expect(await titles()).toEqual(['lint', 'second', 'first'])
  })

  it('never loses a commit of a person, whatever has become of the base', async () => {
    await publish([made('lint', file('a.py', 'two\n'))])
    await local('fetch', '-q')
    await local('checkout', '-q', 'remora/main')
    await write({ 'b.py': 'mine\n' })
    const mine = await commit('mine')
    await publish([made('lint', file('c.py', 'c\n'))], 'another')
    await expect(publish([made('lint', file('a.py', 'three\n'))])).rejects.toMatchObject({
      code: 'PUBLISH_002',
      message: expect.stringMatching(new RegExp(`${mine.slice(0, 10)} of T \\("mine"\\)`)),
    })
    expect(await bare('rev-parse', 'remora/main')).toBe(mine)
    await local('checkout', '-q', 'main')
    for (let count = 0; count < 60; count++) await local('commit', '-q', '--allow-empty', '-m', `m${count}`)
    await local('push', '-q', 'origin', 'HEAD')
    await expect(publish([made('lint', file('a.py', 'three\n'))])).rejects.toMatchObject({ code: 'PUBLISH_002' })
    expect(await publish([made('lint', file('c.py', 'd\n'))], 'another')).toMatchObject({ result: 'updated' })
    await local('merge', '-q', 'remora/main')
    await local('push', '-q', 'origin', 'HEAD')
    expect(await publish([made('lint', file('a.py', 'three\n'))])).toMatchObject({ result: 'updated' })
    expect(await titles()).toContain('mine')
  })

  it('leaves alone a commit of its own that a person has amended', async () => {
    await publish([made('lint', file('a.py', 'two\n'))])
    await local('fetch', '-q')
    await local('checkout', '-q', 'remora/main')
    await write({ 'a.py': 'mine\n' })
    const amending = { ...env, GIT_COMMITTER_NAME: 'Eve', GIT_COMMITTER_DATE: '2040-01-01T00:00:00Z' }
    await execute('git', ['commit', '-qa', '--amend', '--no-edit'], { cwd: at('local'), env: amending })
    await local('push', '-qf', 'origin', 'HEAD')
    await expect(publish([made('lint', file('a.py', 'three\n'))])).rejects.toMatchObject({
      code: 'PUBLISH_002',
      message: expect.stringContaining('of Eve ("lint")'),
    })
  })

  it('finds a person behind many commits of runs', async () => {
    await local('checkout', '-q', '-b', 'remora/main')
    await write({ 'b.py': 'mine\n' })
    await commit('mine')
    for (let count = 0; count < 55; count++) {
      await local('commit', '-q', '--allow-empty', '-m', `m${count}\n\nRemora-Run: r012345678`)
    }
    await local('push', '-q', 'origin', 'HEAD')
    await expect(publish([made('lint', file('a.py', 'two\n'))])).rejects.toMatchObject({
      code: 'PUBLISH_002',
      message: expect.stringContaining('"mine"'),
    })
  })

  it('ends with one of them when two publish at once', async () => {
    const results = await Promise.all(
      ['two\n', 'three\n', 'two\n'].map((text) => publish([made('lint', file('a.py', text))])),
    )
    expect(await titles()).toEqual(['lint', 'first'])
    expect(results.map(({ head }) => head)).toContain(await bare('rev-parse', 'remora/main'))
  })

  it('runs no hook of the caller or a template, and says what a hook of the repository says', async () => {
    const spy = at('spied')
    const hook = `#!/bin/sh\ntouch ${spy}\nexit 1\n`
    // What receives a push is the repository's own business, also with the settings of whoever owns it.
    const own = { template: ['pre-push', 'reference-transaction'], settings: ['pre-push', 'post-index-change'] }
    for (const [folder, names] of Object.entries(own)) {
      await mkdir(at(`${folder}/hooks`), { recursive: true })
      for (const name of names) await writeFile(at(`${folder}/hooks/${name}`), hook, { mode: 0o755 })
    }
    const config = `[init]\ntemplateDir = ${at('template')}\n[core]\nhooksPath = ${at('settings/hooks')}\n`
    await writeFile(at('config'), config)
    const scratch = at('own')
    await mkdir(scratch)
    const host = await openGitRemote({
      url: at('bare.git'),
      scratch,
      trailer: 'Remora-Run',
      env: { ...env, GIT_CONFIG_GLOBAL: at('config'), GIT_DIR: at('local/.git'), GIT_INDEX_FILE: at('x') },
      isInteractive: false,
      signal: AbortSignal.timeout(60_000),
    })
    const order = { branch: 'remora/main', baseBranch: 'main', base: await bare('rev-parse', 'main') }
    const commits = [made('lint', file('a.py', 'two\n'))]
    await host.publishBranch({ ...order, commits })
    expect(await readdir(dir)).not.toContain('spied')
    await writeFile(join(at('bare.git'), 'hooks/pre-receive'), '#!/bin/sh\necho "not on a Friday" >&2\nexit 1\n', {
      mode: 0o755,
    })
    await expect(publish(commits, 'another')).rejects.toMatchObject({
      code: 'HOST_003',
      message: expect.stringContaining('not on a Friday'),
    })
  })

  it('is no address that starts a program or is an option', async () => {
    const spy = at('spied')
    const hostile = [
      `--upload-pack=touch ${spy}`,
      `-u${spy}`,
      `ext::sh -c touch% ${spy}`,
      `fd::7`,
      `https://host\n/x`,
      '',
    ]
    for (const url of hostile) await expect(publish([], 'b', url)).rejects.toMatchObject({ code: 'CONFIG_003' })
    await expect(publish([], 'b', `ssh://-oProxyCommand=touch ${spy}/x`)).rejects.toMatchObject({ code: 'HOST_002' })
    await expect(publish([], 'b', at('none'))).rejects.toMatchObject({ code: 'HOST_002' })
    expect(await readdir(dir)).not.toContain('spied')
    for (const branch of ['-f', 'a..b', 'a b', '../main', 'a.lock']) {
      await expect(publish([made('x', file('x', 'x'))], branch)).rejects.toMatchObject({ code: 'CONFIG_003' })
    }
  })

  it('takes no path that git refuses, and no commit with more than it was to have', async () => {
    for (const path of ['.git/config', '.GIT/config', 'git~1/config', '.g\u200cit/config', '../x']) {
      await expect(publish([made('x', file(path, 'x'))])).rejects.toMatchObject({ code: 'PUBLISH_001' })
    }
    await expect(publish([made('x', file('sub', 'x'))])).rejects.toMatchObject({ code: 'PUBLISH_001' })
    await expect(publish([made('x', file('a.py', 'one\n'))])).rejects.toMatchObject({ code: 'PUBLISH_001' })
    expect(await bare('branch', '--list', 'remora/*')).toBe('')
  })

  it('needs to know who the caller is', async () => {
    const scratch = at('nobody')
    await mkdir(scratch)
    const signal = AbortSignal.timeout(60_000)
    const nobody = {
      PATH: env.PATH,
      GIT_CONFIG_NOSYSTEM: '1',
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'user.useConfigOnly',
      GIT_CONFIG_VALUE_0: 'true',
    }
    const host = await openGitRemote({
      url: at('bare.git'),
      scratch,
      trailer: 'Remora-Run',
      env: nobody,
      isInteractive: false,
      signal,
    })
    const base = await bare('rev-parse', 'main')
    const order = { branch: 'b', baseBranch: 'main', base, commits: [made('x', file('x', 'x'))] }
    await expect(host.publishBranch(order)).rejects.toMatchObject({ code: 'WORK_006' })
  })
})
