import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { startFakeGitea, type TestGitea } from '#testing/fake-gitea.ts'
import { startRealGitea } from '#testing/real-gitea.ts'
import { runGit } from '#testing/fake-github/run-git.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import type { CodeHost, NewCommit, StatusReport } from './code-host.ts'
import { openGitRemote } from './git-remote.ts'
import { withGitea } from './gitea-host.ts'

const real = process.env['REMORA_TEST_GITEA']
if (real === undefined) {
  process.stderr.write('REMORA_TEST_GITEA names no Gitea: only the fake one is asked (CONTRIBUTING.md)\n')
}
const hosts: [string, () => Promise<TestGitea>][] = [
  ['a fake Gitea', startFakeGitea],
  ...(real === undefined
    ? []
    : [['a real Gitea', () => startRealGitea(real)] satisfies [string, () => Promise<TestGitea>]]),
]
const names = { user: 'Ada', email: 'ada@example.org' }
const variables = {
  GIT_AUTHOR_NAME: names.user,
  GIT_AUTHOR_EMAIL: names.email,
  GIT_COMMITTER_NAME: names.user,
  GIT_COMMITTER_EMAIL: names.email,
}

describe.skipIf(lacks('git')).each(hosts)('%s', (_name, start) => {
  let gitea: TestGitea
  let dir = ''
  let base = ''
  const git = (...args: string[]) => runGit(dir, args, { variables })
  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-gitea-test-'))
    gitea = await start()
    await git('init', '-q', '-b', 'main', '.')
    await git('commit', '-q', '--allow-empty', '-m', 'first')
    await git('push', '-q', gitea.url, 'main', 'main:release/1.0')
    base = (await git('rev-parse', 'HEAD')).stdout.toString().trim()
    // A Gitea needs a moment to see that a new repository is not empty any more.
    await until(() => ask('/pulls?state=open'), { holds: Array.isArray, withinMs: 20_000 })
  }, 120_000)
  afterAll(async () => {
    await gitea.close()
    await rm(dir, { recursive: true, force: true })
  })

  let opened = 0
  async function host(url = gitea.url, env: Record<string, string> = {}): Promise<CodeHost> {
    const scratch = join(dir, `.git/scratch-${opened++}`)
    await mkdir(scratch)
    const signal = AbortSignal.timeout(60_000)
    const own = { PATH: process.env['PATH'], HOME: dir, GIT_CONFIG_NOSYSTEM: '1', ...variables, ...env }
    const remote = await openGitRemote({
      url,
      cwd: dir,
      scratch,
      trailer: 'Remora-Run',
      env: own,
      isInteractive: false,
      signal,
    })
    return withGitea(remote, { url, findLogin: remote.findLogin, signal })
  }
  const commit = (text: string): NewCommit => ({
    message: `Change\n\nRemora-Run: r012345678\n`,
    files: [{ path: 'a.txt', executable: false, content: Buffer.from(text), baseHash: null }],
  })
  const publish = async (one: CodeHost, baseBranch: string, text: string) => {
    const branch = `remora/${baseBranch}`
    const { head } = await one.publishBranch({ branch, base, baseBranch, commits: [commit(text)] })
    return { branch, baseBranch, head }
  }
  const ask = async (path: string, init: RequestInit = {}) => {
    const { username, password } = gitea.login
    const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
    const headers = { authorization, 'content-type': 'application/json' }
    const answer = await fetch(`${new URL(gitea.bareUrl).origin}/api/v1/repos/ada/shop${path}`, { ...init, headers })
    return answer.json()
  }
  const Pull = z.looseObject({ title: z.string(), body: z.string(), draft: z.boolean(), state: z.string() })
  const pullAt = async (number: number) => Pull.parse(await ask(`/pulls/${number}`))

  it('gets one pull request for a branch, which is brought up to date, and another once that is closed', async () => {
    const one = await host()
    const at = await publish(one, 'release/1.0', 'one\n')
    const request = { ...at, title: 'Two files', body: '- a\n- b', isDraft: true }
    const first = await one.openChangeRequest?.(request)
    expect(first).toMatchObject({ result: 'opened', isDraft: true })
    expect(first?.url).toContain('/ada/shop/pulls/')
    const number = first?.number ?? 0
    expect(await pullAt(number)).toMatchObject({ title: 'WIP: Two files', draft: true, state: 'open' })

    // A person says that it is ready: that stays.
    await ask(`/pulls/${number}`, { method: 'PATCH', body: JSON.stringify({ title: 'Two files' }) })
    const { head } = await publish(one, 'release/1.0', 'two\n')
    expect(head).not.toBe(at.head)
    const again = await one.openChangeRequest?.({ ...request, title: 'Three files', body: 'more' })
    expect(again).toMatchObject({ number, result: 'updated', isDraft: false })
    expect(await pullAt(number)).toMatchObject({ title: 'Two files', body: 'more', draft: false })

    await ask(`/pulls/${number}`, { method: 'PATCH', body: JSON.stringify({ state: 'closed' }) })
    const other = await one.openChangeRequest?.({ ...request, isDraft: false })
    expect(other).toMatchObject({ result: 'opened', isDraft: false })
    expect(other?.number).not.toBe(number)
    expect(await pullAt(number)).toMatchObject({ state: 'closed', title: 'Two files' })
  })

  it('shows the state of a commit once, and what it is by now', async () => {
    const one = await host()
    const { head } = await publish(one, 'main', 'state\n')
    const report: StatusReport = {
      commit: head,
      name: 'remora',
      key: 'r1',
      state: 'running',
      title: 'being tested',
      summary: '',
      url: null,
      startedAt: Date.now(),
      buttons: [],
      annotations: [],
    }
    await one.reportStatus?.(report)
    await one.reportStatus?.(report)
    await one.reportStatus?.({
      ...report,
      state: 'success',
      title: '12 tests',
      url: 'https://remora.example/v1/runs/r1',
    })
    const Statuses = z.array(
      z.looseObject({ status: z.string(), description: z.string(), context: z.string(), target_url: z.string() }),
    )
    const shown = Statuses.parse(await ask(`/statuses/${head}?sort=recentupdate`))
    expect(shown.map(({ context, status, description }) => `${context} ${status} ${description}`).toSorted()).toEqual([
      'remora pending being tested',
      'remora success 12 tests',
    ])
    expect(shown.map((status) => status.target_url).toSorted()).toEqual(['', 'https://remora.example/v1/runs/r1'])
  })

  it('is asked as git knows the caller, and refuses others', async () => {
    const { username, password } = gitea.login
    const helper = (secret: string) => ({
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'credential.helper',
      GIT_CONFIG_VALUE_0: `!f() { echo username=${username}; echo password=${secret}; }; f`,
    })
    const known = await host(gitea.bareUrl, helper(password))
    const at = await publish(known, 'main', 'by helper\n')
    expect(await known.openChangeRequest?.({ ...at, title: 'T', body: 'B', isDraft: false })).toMatchObject({
      result: 'opened',
    })
    await expect(host(gitea.bareUrl)).rejects.toMatchObject({ code: 'HOST_003' })
    const wrong = host(gitea.bareUrl, helper('wrong'))
    await expect(wrong).rejects.toMatchObject({ code: 'HOST_003' })
  })

  it('is asked first whether it takes a pull request of the caller', async () => {
    const { username, password } = gitea.reader
    const asReader = gitea.bareUrl.replace('//', `//${username}:${password}@`)
    await expect(host(asReader)).rejects.toMatchObject({ code: 'HOST_003' })
    const set = (settings: object) => ask('', { method: 'PATCH', body: JSON.stringify(settings) })
    await set({ has_pull_requests: false })
    await expect(host()).rejects.toMatchObject({ code: 'PUBLISH_001' })
    await set({ has_pull_requests: true })
    await set({ archived: true })
    await expect(host()).rejects.toMatchObject({ code: 'PUBLISH_001' })
    await set({ archived: false })
    await host()
  })

  it('says what it cannot find, and what is no Gitea', async () => {
    const one = await host()
    const request = { branch: 'remora/none', baseBranch: 'main', title: 'T', body: 'B', isDraft: false }
    await expect(one.openChangeRequest?.(request)).rejects.toMatchObject({ code: 'HOST_002' })
    await expect(host(gitea.url.replace('shop.git', 'none.git'))).rejects.toMatchObject({ code: 'HOST_002' })
    const subfolder = gitea.url.replace('/ada/', '/somewhere/ada/')
    await expect(host(subfolder)).rejects.toMatchObject({ code: 'HOST_002' })
    await expect(host('http://127.0.0.1:9/ada/shop.git')).rejects.toMatchObject({ code: 'HOST_003' })
    await expect(host('http://a:b@127.0.0.1:9/ada/shop.git')).rejects.toMatchObject({ code: 'HOST_001' })
    await expect(host(join(dir, 'shop.git'))).rejects.toMatchObject({ code: 'CONFIG_003' })
  })
})
