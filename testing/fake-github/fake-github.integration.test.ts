import { createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { lacks } from '../this-machine.ts'
import { type FakeGitHub, startFakeGitHub } from './start-fake-github.ts'

const log = { debug() {}, info() {}, warn() {}, error() {} }

describe.skipIf(lacks('git'))('the fake GitHub', () => {
  const received: { event: string; guid: string; isSigned: boolean }[] = []
  const receiver = createServer((request, response) => {
    void (async () => {
      const body = await text(request)
      const header = (name: string) => String(request.headers[name])
      const signature = createHmac('sha256', github.app.webhookSecret).update(body).digest('hex')
      const isSigned = header('x-hub-signature-256') === `sha256=${signature}`
      received.push({ event: header('x-github-event'), guid: header('x-github-delivery'), isSigned })
      response.end()
    })()
  })
  let github: FakeGitHub
  let installationId: number
  beforeEach(async () => {
    received.length = 0
    receiver.listen(0, '127.0.0.1')
    await once(receiver, 'listening')
    github = await startFakeGitHub({ webhookUrl: `http://127.0.0.1:${boundPort(receiver)}/` })
  })
  // `close` throws what GitHub's documents do not allow.
  afterEach(async () => {
    await github.close()
    await closeServer(receiver)
  })

  function clientOf(of: { installationId?: number; privateKey?: string } = {}) {
    const { app, apiUrl } = github
    const auth = { appId: app.id, privateKey: app.privateKey, ...of }
    return new Octokit({ baseUrl: apiUrl, authStrategy: createAppAuth, auth, log })
  }

  async function openRepository() {
    const repository = await github.addRepository({ owner: 'acme', name: 'shop', files: { 'a.py': 'a = 1\n' } })
    installationId = github.install({ account: 'acme' }).id
    const of = { owner: 'acme', repo: 'shop' }
    return { repository, of, client: clientOf({ installationId }) }
  }

  it('says of people and machines only what GitHub could say', async () => {
    const { repository, of, client } = await openRepository()
    const base = await repository.humanCommit('topic', { 'b.py': 'b = 1\n' }, {})
    await repository.openPull({ head: 'topic' })
    repository.comment(1, 'Thanks')
    await client.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', {
      ...of,
      issue_number: 1,
      body: 'b',
    })
    const [comment] = repository.comments()
    const said = { ...of, comment_id: comment?.id ?? 0, content: 'eyes' } as const
    await client.request('POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions', said)
    const check = { ...of, name: 'Remora', head_sha: base, status: 'completed', conclusion: 'success' } as const
    const actions = [{ label: 'L', description: 'D', identifier: 'i' }]
    const made = await client.request('POST /repos/{owner}/{repo}/check-runs', { ...check, actions })
    const id = Number(made.data.id)
    repository.requestAction(id, 'i')
    repository.rerequest(id)
    await repository.rerequestSuite('topic')
    await repository.closePull(1)
    await repository.reopenPull(1)
    await repository.mergePull(1, { method: 'squash' })
    await repository.deleteBranch('topic')
    repository.rename('store')
    await github.webhooks.settled()
    expect(new Set(received.map(({ event }) => event))).toEqual(
      new Set(['installation', 'push', 'check_suite', 'pull_request', 'issue_comment', 'check_run', 'repository']),
    )
    expect(received.every(({ isSigned }) => isSigned)).toBe(true)
    const app = clientOf()
    const { data: list } = await app.request('GET /app/hook/deliveries', { per_page: 5 })
    expect(list).toHaveLength(5)
    await app.request('GET /app/hook/deliveries/{delivery_id}', { delivery_id: Number(list[0]?.id) })
    await expect(client.request('GET /repos/{owner}/{repo}', of)).rejects.toMatchObject({ status: 404 })
  })

  it('loses, doubles, holds and reorders webhooks', async () => {
    github.webhooks.drop(1)
    github.webhooks.double(1)
    const { repository } = await openRepository()
    github.webhooks.hold()
    await repository.humanCommit('main', { 'a.py': 'a = 2\n' })
    await github.webhooks.settled()
    expect(received).toEqual([])
    github.webhooks.release((held) => held.toReversed())
    await github.webhooks.settled()
    expect(received.map(({ event }) => event)).toEqual(['check_suite', 'check_suite', 'push'])
    expect(github.webhooks.deliveries.map(({ statusCode }) => statusCode)).toEqual([502, 200, 200])
  })

  it('gives nothing to a wrong key, a token that is out of date, a missing permission, or a limit', async () => {
    const { repository, of, client } = await openRepository()
    const asked = () => client.request('GET /repos/{owner}/{repo}', of)
    const installation = github.install({ account: 'umbrella' })
    installation.setPermissions({ contents: 'read' })
    await github.addRepository({ owner: 'umbrella', name: 'shop', files: { 'a.py': 'a = 1\n' } })
    const theirs = clientOf({ installationId: installation.id })
    const pull = { owner: 'umbrella', repo: 'shop', title: 'T', head: 'main', base: 'main' }
    await expect(theirs.request('POST /repos/{owner}/{repo}/pulls', pull)).rejects.toMatchObject({ status: 403 })
    await expect(theirs.request('GET /repos/{owner}/{repo}', of)).rejects.toMatchObject({ status: 404 })
    await asked()
    github.expireTokens()
    await expect(asked()).rejects.toMatchObject({ status: 401 })
    github.rateLimit.set(0)
    await expect(clientOf({ installationId }).request('GET /repos/{owner}/{repo}', of)).rejects.toMatchObject({
      status: 403,
      response: { headers: { 'x-ratelimit-remaining': '0' } },
    })
    expect(repository.pulls()).toEqual([])
  })

  it('names what a client asks that GitHub does not have', async () => {
    const { of, client } = await openRepository()
    const ref = { ...of, ref: 'heads/main', strange: 1 }
    await expect(client.request('GET /repos/{owner}/{repo}/git/ref/{ref}', ref)).rejects.toMatchObject({ status: 500 })
    await expect(client.request('GET /repos/{owner}/{repo}/pulls', { ...of, state: 'all' })).rejects.toMatchObject({
      status: 500,
    })
    expect(github.takeViolations()).toHaveLength(2)
  })
})
