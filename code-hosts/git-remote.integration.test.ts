import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type GitClone, gitAs, makeBare } from '#testing/git-clone.ts'
import { lacks } from '#testing/this-machine.ts'
import { aCommit as made, aFile as file, cloneOf, codeHostCases, type PlayedHost } from './code-host-cases.fixture.ts'
import type { NewCommit } from './code-host.ts'
import { openGitRemote } from './git-remote.ts'

const env = gitAs('Ada')

/** An empty bare repository, and the folder for what is opened of it. */
async function startRemote() {
  const dir = await mkdtemp(join(tmpdir(), 'remora-remote-'))
  const gitPath = join(dir, 'bare.git')
  await makeBare(gitPath)
  let opened = 0
  async function open(url = gitPath) {
    const scratch = join(dir, `scratch-${opened++}`)
    await mkdir(scratch)
    const signal = AbortSignal.timeout(60_000)
    return openGitRemote({ url, cwd: dir, scratch, trailer: 'Remora-Run', env, isInteractive: false, signal })
  }
  return { dir, gitPath, open, close: () => rm(dir, { recursive: true, force: true }) }
}

async function start(): Promise<PlayedHost> {
  const { gitPath, open, close } = await startRemote()
  return { gitPath, open: () => open(), changeRequests: async () => [], statuses: async () => [], close }
}
codeHostCases('a plain git remote', start, { changeRequests: false, statuses: false })

describe.skipIf(lacks('git'))('a plain git remote', () => {
  let remote: Awaited<ReturnType<typeof startRemote>>
  let clone: GitClone
  let dir = ''
  const at = (name: string) => join(dir, name)
  const bare = (...args: string[]) => clone.bare(...args)
  const local = (...args: string[]) => clone.local(...args)
  beforeEach(async () => {
    remote = await startRemote()
    dir = remote.dir
    clone = await cloneOf(remote)
  })
  afterEach(async () => {
    await clone.close()
    await remote.close()
  })

  async function publish(commits: NewCommit[], branch = 'remora/main', url?: string) {
    const host = await remote.open(url)
    const base = await host.findBranch(null)
    return host.publishBranch({ branch, base: base?.commit ?? '', baseBranch: base?.name ?? '', commits })
  }

  it('commits as the caller, and says who has changed such a commit', async () => {
    const { head } = await publish([made('lint', file('a.py', 'two\n'))])
    expect(await bare('log', '-1', '--format=%an <%ae> %cn', head)).toBe('Ada <ada@example.org> Ada')
    await clone.amend('remora/main', { 'a.py': 'mine\n' })
    await expect(publish([made('lint', file('a.py', 'three\n'))])).rejects.toMatchObject({
      message: expect.stringContaining('of Eve ("lint")'),
    })
  })

  it('finds a person where the base branch has gone on for long', async () => {
    await publish([made('lint', file('a.py', 'two\n'))])
    await clone.checkOut('remora/main')
    await clone.write({ 'b.py': 'mine\n' })
    const mine = await clone.commit('mine')
    await publish([made('lint', file('c.py', 'c\n'))], 'another')
    await local('checkout', '-q', 'main')
    for (let count = 0; count < 60; count++) await local('commit', '-q', '--allow-empty', '-m', `m${count}`)
    await local('push', '-q', 'origin', 'HEAD')
    await expect(publish([made('lint', file('a.py', 'three\n'))])).rejects.toMatchObject({
      code: 'PUBLISH_002',
      message: expect.stringMatching(new RegExp(`${mine.slice(0, 10)} of Ada \\("mine"\\)`)),
    })
    expect(await publish([made('lint', file('c.py', 'd\n'))], 'another')).toMatchObject({ result: 'updated' })
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
      cwd: dir,
      scratch,
      trailer: 'Remora-Run',
      env: { ...env, GIT_CONFIG_GLOBAL: at('config'), GIT_DIR: join(clone.folder, '.git'), GIT_INDEX_FILE: at('x') },
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
      cwd: dir,
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
