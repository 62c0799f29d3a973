import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Octokit } from '@octokit/core'
import { unpackTar } from 'modern-tar'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '../this-machine.ts'
import type { FakeRepository } from './host-repository.ts'
import { clientOf, clientWith, refusalOf } from './octokit.fixture.ts'
import { runGit } from './run-git.ts'
import { type FakeGitHub, startFakeGitHub } from './start-fake-github.ts'

const at = { owner: 'acme', repo: 'inventory' }
const nowhere = 'f'.repeat(40)
const files = {
  'a.py': 'A = 1\n',
  'src/b.py': 'B = 2\n',
  'run.sh': { content: '#!/bin/sh\n', executable: true } as const,
}

describe.skipIf(lacks('git'))('git in the fake GitHub', () => {
  let github: FakeGitHub
  let repository: FakeRepository
  let octokit: Octokit
  let first: string

  beforeEach(async () => {
    github = await startFakeGitHub()
    repository = await github.addRepository({ owner: at.owner, name: at.repo, files })
    octokit = clientOf(github, { installationId: github.install({ account: at.owner }).id })
    first = (await repository.tip('main')) ?? ''
  })
  afterEach(() => github.close())

  async function commit(path: string, content: string, parents: string[] = [first]): Promise<string> {
    const tree = await octokit.request('POST /repos/{owner}/{repo}/git/trees', {
      ...at,
      base_tree: parents[0] ?? '',
      tree: [{ path, mode: '100644', type: 'blob', content }],
    })
    const given = { ...at, message: `Change ${path}`, tree: tree.data.sha, parents }
    return (await octokit.request('POST /repos/{owner}/{repo}/git/commits', given)).data.sha
  }

  const moveTo = (sha: string, force?: boolean) =>
    octokit.request('PATCH /repos/{owner}/{repo}/git/refs/{ref}', {
      ...at,
      ref: 'heads/main',
      sha,
      ...(force === undefined ? {} : { force }),
    })

  it('is made of blobs, trees, commits and refs, and can be cloned', async () => {
    const blob = await octokit.request('POST /repos/{owner}/{repo}/git/blobs', {
      ...at,
      content: Buffer.from('A = 2\n').toString('base64'),
      encoding: 'base64',
    })
    const tree = await octokit.request('POST /repos/{owner}/{repo}/git/trees', {
      ...at,
      base_tree: first,
      tree: [
        { path: 'a.py', mode: '100644', type: 'blob', sha: blob.data.sha },
        { path: 'src/b.py', mode: '100644', type: 'blob', sha: null },
        { path: 'new/deep/c.py', mode: '100755', type: 'blob', content: 'C = 3\n' },
      ],
    })
    const made = await octokit.request('POST /repos/{owner}/{repo}/git/commits', {
      ...at,
      message: 'Change',
      tree: tree.data.sha,
      parents: [first],
    })
    expect(made.data).toMatchObject({ verification: { verified: true }, author: { name: 'remora-test[bot]' } })
    await octokit.request('POST /repos/{owner}/{repo}/git/refs', {
      ...at,
      ref: 'refs/heads/remora/main',
      sha: made.data.sha,
    })
    const clone = await mkdtemp(join(tmpdir(), 'clone-'))
    await runGit(clone, ['clone', '--quiet', '--branch', 'remora/main', repository.gitPath, '.'])
    const listed = await runGit(clone, ['ls-files', '--stage'])
    await rm(clone, { recursive: true })
    const modes = listed.stdout
      .toString()
      .split('\n')
      .map((line) => `${line.slice(0, 6)} ${line.split('\t')[1]}`)
    expect(modes.slice(0, -1)).toEqual(['100644 a.py', '100755 new/deep/c.py', '100755 run.sh'])
    expect(await repository.read('remora/main', 'a.py')).toBe('A = 2\n')
  })

  it('is signed only when nobody else is named as the author', async () => {
    const { data: parent } = await octokit.request('GET /repos/{owner}/{repo}/git/commits/{commit_sha}', {
      ...at,
      commit_sha: first,
    })
    const { data } = await octokit.request('POST /repos/{owner}/{repo}/git/commits', {
      ...at,
      message: 'By hand',
      tree: parent.tree.sha,
      parents: [first],
      author: { name: 'Ada', email: 'ada@example.org', date: '2026-01-02T03:04:05Z' },
    })
    expect(data.verification).toMatchObject({ verified: false, reason: 'unsigned' })
    expect(data.author).toEqual({ name: 'Ada', email: 'ada@example.org', date: '2026-01-02T03:04:05Z' })
  })

  it('moves a branch forward only, unless it is forced', async () => {
    const [one, other] = [await commit('a.py', 'one\n'), await commit('a.py', 'other\n')]
    await moveTo(one)
    expect(await refusalOf(moveTo(other))).toBe('422 Update is not a fast forward')
    expect(await repository.tip('main')).toBe(one)
    await moveTo(other, true)
    expect(await repository.tip('main')).toBe(other)
    const pushes = github.webhooks.deliveries.filter(({ event }) => event === 'push')
    expect(pushes.map(({ payload }) => payload['forced'])).toEqual([false, true])
  })

  it('moves a ref only from where the caller saw it, and makes one only where there is none', async () => {
    const [one, other] = [await commit('a.py', 'one\n'), await commit('a.py', 'other\n')]
    const found = await octokit.request('GET /repos/{owner}/{repo}', at)
    const move = async (update: object, { as = octokit, repositoryId = found.data.node_id } = {}) => {
      const input = { repositoryId, refUpdates: [update] }
      await as.graphql('mutation ($input: UpdateRefsInput!) { updateRefs(input: $input) { clientMutationId } }', {
        input,
      })
    }
    const main = { name: 'refs/heads/main', force: true }
    await move({ ...main, beforeOid: first, afterOid: one })
    expect(await refusalOf(move({ ...main, beforeOid: first, afterOid: other }))).toContain('is not at')
    expect(await repository.tip('main')).toBe(one)
    const made = { name: 'refs/heads/made', beforeOid: '0'.repeat(40), afterOid: other }
    await move(made)
    expect(await refusalOf(move(made))).toContain('is not at')
    expect(await refusalOf(move({ ...main, force: false, afterOid: other }))).toContain('not a fast forward')
    expect(await refusalOf(move({ ...main, afterOid: nowhere }))).toContain('does not exist')
    expect(await refusalOf(move({ ...main, afterOid: other }, { repositoryId: 'R_none' }))).toContain(
      'Could not resolve',
    )
    const token = await octokit.auth({ type: 'installation', permissions: { contents: 'read' } })
    const reader = clientWith(github, z.object({ token: z.string() }).parse(token).token)
    expect(await refusalOf(move({ ...main, afterOid: other }, { as: reader }))).toContain('not accessible')
  })

  it('may have submodules and links, and more entries than are listed at once', async () => {
    const small = await startFakeGitHub({ mostTreeEntries: 2 })
    await small.addRepository({ owner: at.owner, name: at.repo, files })
    const client = clientOf(small, { installationId: small.install({ account: at.owner }).id })
    const link = { path: 'link', mode: '120000', type: 'blob', content: 'a.py' } as const
    const module = { path: 'lib/module', mode: '160000', type: 'commit', sha: nowhere } as const
    const wanted = { ...at, base_tree: 'main', tree: [link, module] }
    const tree = await client.request('POST /repos/{owner}/{repo}/git/trees', wanted)
    const commits = 'POST /repos/{owner}/{repo}/git/commits'
    const { data } = await client.request(commits, { ...at, message: 'Links', tree: tree.data.sha, parents: [] })
    await client.request('POST /repos/{owner}/{repo}/git/refs', { ...at, ref: 'refs/heads/links', sha: data.sha })
    const read = async (path: string) =>
      (await client.request('GET /repos/{owner}/{repo}/contents/{path}', { ...at, path, ref: 'links' })).data
    expect(await read('link')).toMatchObject({ type: 'symlink', target: 'a.py' })
    expect(await read('lib/module')).toMatchObject({ type: 'submodule', sha: nowhere })
    const listed = await client.request('GET /repos/{owner}/{repo}/git/trees/{tree_sha}', { ...at, tree_sha: 'links' })
    expect(listed.data).toMatchObject({ truncated: true, tree: [{ path: 'a.py' }, { path: 'lib' }] })
    await small.close()
  })

  it('never loses the commit of a person who pushes at the same moment', async () => {
    const ours = await commit('a.py', 'ours\n')
    const [theirs, moved] = await Promise.all([
      repository.humanCommit('main', { 'b.py': 'theirs\n' }),
      refusalOf(moveTo(ours)),
    ])
    expect(['it was not refused', '422 Update is not a fast forward']).toContain(moved)
    expect((await repository.commits('main')).map(({ sha }) => sha)).toContain(theirs)
  })

  it('has what git has packed, as after a large push', async () => {
    await repository.humanCommit('topic', { 'src/b.py': 'B = 3\n' })
    const before = await repository.tip('topic')
    await repository.git(['gc', '--quiet'])
    const after = await repository.humanCommit('topic', { 'src/b.py': 'B = 4\n' })
    expect((await repository.commits('topic')).map(({ sha }) => sha)).toEqual([after, before, first])
    expect(await repository.branches()).toEqual(['main', 'topic'])
    const blob = await repository.git(['rev-parse', `${before}:src/b.py`])
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/git/blobs/{file_sha}', { ...at, file_sha: blob })
    expect(Buffer.from(data.content, 'base64').toString()).toBe('B = 3\n')
    await repository.deleteBranch('topic')
    expect(await repository.tip('topic')).toBeUndefined()
  })

  it('refuses what does not exist, and what exists already', async () => {
    const refs = 'POST /repos/{owner}/{repo}/git/refs'
    expect(await refusalOf(moveTo(nowhere))).toBe('422 Object does not exist')
    expect(await refusalOf(octokit.request(refs, { ...at, ref: 'refs/heads/main', sha: first }))).toBe(
      '422 Reference already exists',
    )
    expect(await refusalOf(octokit.request(refs, { ...at, ref: 'refs/heads/x', sha: nowhere }))).toBe(
      '422 Object does not exist',
    )
    const gone = { ...at, ref: 'heads/gone' }
    expect(await refusalOf(octokit.request('GET /repos/{owner}/{repo}/git/ref/{ref}', gone))).toBe('404 Not Found')
    expect(await refusalOf(octokit.request('DELETE /repos/{owner}/{repo}/git/refs/{ref}', gone))).toContain(
      '422 Reference does not exist',
    )
    const tree = (entry: { sha: string | null; path: string }) =>
      octokit.request('POST /repos/{owner}/{repo}/git/trees', {
        ...at,
        base_tree: first,
        tree: [{ mode: '100644', type: 'blob', ...entry }],
      })
    expect(await refusalOf(tree({ path: 'a.py', sha: nowhere }))).toBe(`422 tree.sha ${nowhere} does not exist`)
    expect(await refusalOf(tree({ path: 'none.py', sha: null }))).toBe('422 GitRPC::BadObjectState')
    expect(await refusalOf(tree({ path: '../a.py', sha: null }))).toContain('malformed path')
    const workflow = tree({ path: '.github/workflows/ci.yml', sha: nowhere })
    expect(await refusalOf(workflow)).toBe('403 Resource not accessible by integration')
    const commits = octokit.request('POST /repos/{owner}/{repo}/git/commits', {
      ...at,
      message: 'x',
      tree: nowhere,
      parents: [],
    })
    expect(await refusalOf(commits)).toBe('422 Tree SHA does not exist')
  })

  it('is compared, listed and read', async () => {
    const head = await commit('src/b.py', 'B = 3\n')
    await octokit.request('POST /repos/{owner}/{repo}/git/refs', { ...at, ref: 'refs/heads/topic', sha: head })
    await repository.humanCommit('main', { 'a.py': 'A = 9\n' })
    const { data } = await octokit.request('GET /repos/{owner}/{repo}/compare/{basehead}', {
      ...at,
      basehead: 'main...topic',
    })
    expect(data).toMatchObject({ status: 'diverged', ahead_by: 1, behind_by: 1, merge_base_commit: { sha: first } })
    expect(data.files?.[0]).toMatchObject({
      filename: 'src/b.py',
      status: 'modified',
      patch: '@@ -1 +1 @@\n-B = 2\n+B = 3',
    })
    const branch = await octokit.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch: 'topic' })
    expect(branch.data.commit.sha).toBe(head)
    const refs = await octokit.request('GET /repos/{owner}/{repo}/git/matching-refs/{ref}', { ...at, ref: 'heads/t' })
    expect(refs.data.map(({ ref }) => ref)).toEqual(['refs/heads/topic'])
    const tree = await octokit.request('GET /repos/{owner}/{repo}/git/trees/{tree_sha}', {
      ...at,
      tree_sha: head,
      recursive: '1',
    })
    expect(tree.data.tree.map(({ path, type }) => `${type} ${path}`)).toEqual([
      'blob a.py',
      'blob run.sh',
      'tree src',
      'blob src/b.py',
    ])
    const one = await octokit.request('GET /repos/{owner}/{repo}/commits/{ref}', { ...at, ref: 'heads/topic' })
    expect(one.data.stats).toEqual({ additions: 1, deletions: 1, total: 2 })
    const raw = { accept: 'application/vnd.github.raw+json' }
    const file = { ...at, path: 'src/b.py', ref: 'topic' }
    const { data: content } = await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', file)
    expect(content).toMatchObject({
      type: 'file',
      encoding: 'base64',
      content: Buffer.from('B = 3\n').toString('base64'),
    })
    const text = await octokit.request('GET /repos/{owner}/{repo}/contents/{path}', { ...file, headers: raw })
    expect(text.data).toBe('B = 3\n')
  })

  it('is sent as an archive from an address that needs no token and ends', async () => {
    const asked = await fetch(`${github.apiUrl}/repos/acme/inventory/tarball/main`, { redirect: 'manual' })
    const address = asked.headers.get('location') ?? ''
    const archive = gunzipSync(await (await fetch(address)).bytes())
    const entries = await unpackTar(archive)
    const top = `acme-inventory-${first.slice(0, 7)}/`
    expect(entries.map(({ header }) => header.name).filter((name) => name.endsWith('.py'))).toEqual([
      `${top}a.py`,
      `${top}src/b.py`,
    ])
    github.advance(6 * 60_000)
    expect((await fetch(address)).status).toBe(404)
  })
})
