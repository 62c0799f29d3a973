import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/core'
import { Webhooks } from '@octokit/webhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { lacks } from '../this-machine.ts'
import type { FakeRepository } from './host-repository.ts'
import { runGit } from './run-git.ts'
import { type FakeGitHub, startFakeGitHub } from './start-fake-github.ts'

describe.skipIf(lacks('git'))('the fake GitHub', () => {
  let github: FakeGitHub
  let repository: FakeRepository
  let octokit: Octokit
  const at = { owner: 'acme', repo: 'inventory' }

  beforeEach(async () => {
    github = await startFakeGitHub()
    repository = await github.addRepository({
      ...at,
      name: at.repo,
      files: { 'a.py': 'A = 1\n', 'src/b.py': 'B = 2\n' },
    })
    octokit = clientOf(github, github.install({ account: at.owner }).id)
  })
  afterEach(() => github.close())

  it('takes a branch and a pull request through the Git data API, and git can read them', async () => {
    const head = await octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', { ...at, ref: 'heads/main' })
    const parent = head.data.object.sha
    const commit = await octokit.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', {
      ...at,
      commit_sha: parent,
    })
    const blob = await octokit.request('POST /repos/{owner}/{repo}/git/blobs', { ...at, content: 'A = 2\n' })
    const tree = await octokit.request('POST /repos/{owner}/{repo}/git/trees', {
      ...at,
      base_tree: commit.data.tree.sha,
      tree: [
        { path: 'a.py', mode: '100644', type: 'blob', sha: blob.data.sha },
        { path: 'src/b.py', mode: '100644', type: 'blob', sha: null },
        { path: 'new/c.py', mode: '100755', type: 'blob', content: 'C = 3\n' },
      ],
    })
    const made = await octokit.request('POST /repos/{owner}/{repo}/git/commits', {
      ...at,
      message: 'Change',
      tree: tree.data.sha,
      parents: [parent],
    })
    expect(made.data.verification.verified).toBe(true)
    expect(made.data.author.name).toBe('remora-test[bot]')
    await octokit.request('POST /repos/{owner}/{repo}/git/refs', {
      ...at,
      ref: 'refs/heads/remora/main',
      sha: made.data.sha,
    })
    const pull = await octokit.request('POST /repos/{owner}/{repo}/pulls', {
      ...at,
      title: 'Change',
      head: 'remora/main',
      base: 'main',
    })
    expect(pull.data).toMatchObject({ number: 1, mergeable: true, changed_files: 3, commits: 1 })
    const merged = await repository.mergePull(1)
    const [commitMerged] = await repository.commits(`${merged}^!`)
    expect(commitMerged?.parents).toEqual([parent, made.data.sha])
    const clone = mkdtempSync(join(tmpdir(), 'clone-'))
    await runGit(clone, ['clone', '-q', repository.gitPath, '.'])
    await writeFile(join(clone, 'd.py'), 'D = 4\n')
    await runGit(clone, ['add', '.'])
    await runGit(clone, ['-c', 'user.name=ada', '-c', 'user.email=ada@example.org', 'commit', '-qm', 'd'])
    await runGit(clone, ['push', '-q'])
    const listed = await runGit(clone, ['ls-files'])
    rmSync(clone, { recursive: true })
    expect(listed.stdout.toString()).toBe('a.py\nd.py\nnew/c.py\n')
    expect(github.webhooks.deliveries.map(({ event, action }) => `${event} ${action}`)).toEqual([
      'installation created',
      'push null',
      'check_suite requested',
      'pull_request opened',
      'push null',
      'check_suite requested',
      'pull_request closed',
      'push null',
      'check_suite requested',
    ])
  })

  it('signs', async () => {
    const got: { event: string; ok: boolean }[] = []
    const hooks = new Webhooks({ secret: github.app.webhookSecret })
    const server = createServer((request, response) => {
      void (async () => {
        const ok = await hooks.verify(await text(request), String(request.headers['x-hub-signature-256']))
        got.push({ event: String(request.headers['x-github-event']), ok })
        response.end('ok')
      })()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    github.webhooks.sendTo(`http://127.0.0.1:${boundPort(server)}`)
    await repository.humanCommit('main', { 'a.py': 'A = 3\n' })
    await github.webhooks.settled()
    expect(got).toEqual([
      { event: 'push', ok: true },
      { event: 'check_suite', ok: true },
    ])
    await closeServer(server)
  })

  it('checks', async () => {
    const sha = (await repository.tip('main')) ?? ''
    const { data } = await octokit.request('POST /repos/{owner}/{repo}/check-runs', {
      ...at,
      name: 'Remora',
      head_sha: sha,
      status: 'in_progress',
      output: { title: 't', summary: 's' },
      actions: [{ label: 'Accept all', description: 'd', identifier: 'accept' }],
    })
    await octokit.request('PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}', {
      ...at,
      check_run_id: data.id,
      conclusion: 'success',
      output: {
        title: 't',
        summary: 's',
        annotations: [{ path: 'a.py', start_line: 1, end_line: 1, annotation_level: 'notice', message: 'm' }],
      },
    })
    repository.requestAction(Number(data.id), 'accept')
    repository.rerequest(Number(data.id))
    const tar = await octokit.request('GET /repos/{owner}/{repo}/tarball/{ref}', { ...at, ref: sha })
    expect(tar.status).toBe(200)
    await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}/check-runs', { ...at, ref: 'main' })
    await octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', { ...at, basehead: `${sha}...main` })
    await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at, path: 'src/b.py' })
    await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at, path: 'src' })
    await octokit.request('GET /repos/{owner}/{repo}', at)
    await octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch: 'main' })
    await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}', { ...at, ref: 'main' })
    await octokit.request('GET /repos/{owner}/{repo}/git/trees/{tree_sha}', { ...at, tree_sha: 'main', recursive: '1' })
    await octokit.request('GET /rate_limit')
  })
})

function clientOf(github: FakeGitHub, installationId: number): Octokit {
  const { id: appId, privateKey } = github.app
  return new Octokit({
    baseUrl: github.apiUrl,
    authStrategy: createAppAuth,
    auth: { appId, privateKey, installationId },
  })
}
