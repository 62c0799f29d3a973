import type { Octokit } from '@octokit/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lacks } from '../this-machine.ts'
import type { FakeRepository } from './host-repository.ts'
import { clientOf, refusalOf } from './octokit.fixture.ts'
import { type FakeGitHub, startFakeGitHub } from './start-fake-github.ts'

const at = { owner: 'acme', repo: 'inventory' }
const one = { ...at, pull_number: 1 }
const issue = { ...at, issue_number: 1 }

describe.skipIf(lacks('git'))('pull requests of the fake GitHub', () => {
  let github: FakeGitHub
  let repository: FakeRepository
  let octokit: Octokit

  beforeEach(async () => {
    github = await startFakeGitHub()
    repository = await github.addRepository({ owner: at.owner, name: at.repo, files: { 'a.py': 'A = 1\n' } })
    octokit = clientOf(github, { installationId: github.install({ account: at.owner }).id })
    await repository.humanCommit('topic', { 'a.py': 'A = 2\n', 'b.py': 'B = 1\n' })
  })
  afterEach(() => github.close())

  const open = (wanted: { head?: string; base?: string } = {}) =>
    octokit.request('POST /repos/{owner}/{repo}/pulls', {
      ...at,
      title: 'Topic',
      head: 'topic',
      base: 'main',
      ...wanted,
    })
  const read = async () => (await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', one)).data
  const told = () =>
    github.webhooks.deliveries.flatMap(({ event, action }) => (event === 'pull_request' ? [action] : []))

  it('say what they change and whether they can be merged', async () => {
    const { data } = await open()
    expect(data).toMatchObject({ number: 1, mergeable: true, changed_files: 2, additions: 2, deletions: 1, commits: 1 })
    const { data: files } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/files', one)
    expect(files.map(({ filename, status }) => `${status} ${filename}`)).toEqual(['modified a.py', 'added b.py'])
    await repository.humanCommit('main', { 'a.py': 'A = 3\n' })
    expect(await read()).toMatchObject({ mergeable: false, mergeable_state: 'dirty' })
    const { data: commits } = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/commits', one)
    expect(commits.map(({ sha }) => sha)).toEqual([await repository.tip('topic')])
  })

  it('are refused when there is one already, when there is no difference, and without their branches', async () => {
    await open()
    const reasons = [open(), open({ head: 'main' }), open({ base: 'none' }), open({ head: 'none' })].map(refusalOf)
    expect(await Promise.all(reasons)).toEqual([
      expect.stringContaining('A pull request already exists for acme:topic.'),
      expect.stringContaining('No commits between main and main'),
      expect.stringMatching(/422 Validation Failed.*"field":"base"/),
      expect.stringMatching(/422 Validation Failed.*"field":"head"/),
    ])
  })

  it('are found by branch and state, follow a push, and can be closed and opened again', async () => {
    await open()
    const list = async (wanted: { head?: string; base?: string; state?: 'closed' | 'all' }) =>
      (await octokit.request('GET /repos/{owner}/{repo}/pulls', { ...at, ...wanted })).data.length
    expect(await list({ head: 'acme:topic' })).toBe(1)
    expect(await list({ head: 'acme:other' })).toBe(0)
    expect(await list({ state: 'closed' })).toBe(0)
    const head = await repository.humanCommit('topic', { 'c.py': 'C = 1\n' })
    expect((await read()).head.sha).toBe(head)
    const change = { ...one, title: 'Better', body: 'Why' }
    await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...change, state: 'closed' })
    expect(await list({ state: 'closed' })).toBe(1)
    await octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...one, state: 'open' })
    expect(await read()).toMatchObject({ state: 'open', title: 'Better', body: 'Why' })
    expect(told()).toEqual(['opened', 'synchronize', 'edited', 'closed', 'reopened'])
  })

  it('are merged by a merge commit, by a squash, or by a push that has their commits', async () => {
    await open()
    const head = await repository.tip('topic')
    const before = await repository.tip('main')
    const merged = await repository.mergePull(1)
    const [commit] = await repository.commits(`${merged}^!`)
    expect(commit?.parents).toEqual([before, head])
    expect(await read()).toMatchObject({ merged: true, state: 'closed', merge_commit_sha: merged })
    await repository.humanCommit('second', { 'c.py': 'C = 1\n' })
    await repository.openPull({ head: 'second' })
    await repository.mergePull(2, { method: 'squash' })
    expect(await repository.read('main', 'c.py')).toBe('C = 1\n')
    const third = await repository.humanCommit('third', { 'd.py': 'D = 1\n' })
    await repository.openPull({ head: 'third' })
    await repository.humanCommit('main', { 'd.py': 'D = 1\n', 'e.py': '' }, { parent: third })
    expect(repository.pulls().map(({ merged: merge }) => merge !== undefined)).toEqual([true, true, true])
    await repository.humanCommit('fourth', { 'd.py': '' })
    await repository.openPull({ head: 'fourth' })
    await repository.deleteBranch('fourth')
    expect(repository.pulls()[3]).toMatchObject({ state: 'closed' })
  })

  it('are opened once, however often and at once they are asked for', async () => {
    const answers = await Promise.all([open(), open(), open()].map(refusalOf))
    expect(answers.filter((text) => text === 'it was not refused')).toHaveLength(1)
    expect(repository.pulls()).toHaveLength(1)
  })

  it('come from forks, too', async () => {
    const fork = await github.addRepository({ owner: 'stranger', name: at.repo, forkOf: repository })
    await fork.humanCommit('fix', { 'a.py': 'A = 7\n' }, { by: 'stranger' })
    const { number } = await repository.openPull({ head: 'fix', fork, by: 'stranger' })
    await fork.humanCommit('fix', { 'a.py': 'A = 8\n' }, { by: 'stranger' })
    const [delivery] = github.webhooks.deliveries.filter(({ action }) => action === 'synchronize')
    expect(delivery?.payload).toMatchObject({
      pull_request: {
        author_association: 'NONE',
        head: {
          label: 'stranger:fix',
          sha: await fork.tip('fix'),
          repo: { full_name: 'stranger/inventory', fork: true },
        },
        base: { repo: { full_name: 'acme/inventory' } },
      },
    })
    await repository.mergePull(number)
    expect(await repository.read('main', 'a.py')).toBe('A = 8\n')
  })

  it('have labels, reviewers and comments', async () => {
    await open()
    await octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/labels', { ...issue, labels: ['remora'] })
    await octokit.request('PUT /repos/{owner}/{repo}/issues/{issue_number}/labels', {
      ...issue,
      labels: ['new', 'docs'],
    })
    const ask = (login: string) => {
      const asked = { ...one, reviewers: [login] }
      return octokit.request('POST /repos/{owner}/{repo}/pulls/{pull_number}/requested_reviewers', asked)
    }
    await ask('ada')
    expect(await refusalOf(ask('nobody'))).toContain('422 Reviews may only be requested from collaborators')
    const pull = await read()
    expect(pull.labels.map(({ name }) => name)).toEqual(['new', 'docs'])
    expect(pull.requested_reviewers?.map(({ login }) => login)).toEqual(['ada'])
    const comments = 'POST /repos/{owner}/{repo}/issues/{issue_number}/comments'
    const { data: own } = await octokit.request(comments, { ...issue, body: 'Done' })
    const { id: theirs } = repository.comment(1, '/remora retry', { by: 'ada' })
    const edit = (id: number) =>
      octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', {
        ...at,
        comment_id: id,
        body: 'Better',
      })
    await edit(Number(own.id))
    expect(await refusalOf(edit(theirs))).toContain('403')
    const listed = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', issue)
    expect(listed.data.map(({ body, author_association: from }) => [body, from])).toEqual([
      ['Better', 'NONE'],
      ['/remora retry', 'COLLABORATOR'],
    ])
    const levels = ['ada', 'acme', 'nobody'].map(async (username) => {
      const asked = { ...at, username }
      return (await octokit.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', asked)).data
        .permission
    })
    expect(await Promise.all(levels)).toEqual(['write', 'admin', 'read'])
  })
})
