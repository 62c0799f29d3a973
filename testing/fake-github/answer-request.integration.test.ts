import { Octokit } from '@octokit/core'
import { createAppAuth } from '@octokit/auth-app'
import { paginateRest } from '@octokit/plugin-paginate-rest'
import { retry } from '@octokit/plugin-retry'
import { throttling } from '@octokit/plugin-throttling'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lacks } from '../this-machine.ts'
import type { FakeRepository } from './host-repository.ts'
import { clientOf, refusalOf } from './octokit.fixture.ts'
import { type FakeGitHub, startFakeGitHub } from './start-fake-github.ts'

const at = { owner: 'acme', repo: 'inventory' }
const main = { ...at, ref: 'heads/main' }
const refs = 'GET /repos/{owner}/{repo}/git/ref/{ref}'

describe.skipIf(lacks('git'))('the rules of the API of the fake GitHub', () => {
  let github: FakeGitHub
  let repository: FakeRepository
  let octokit: Octokit

  beforeEach(async () => {
    github = await startFakeGitHub()
    repository = await github.addRepository({ owner: at.owner, name: at.repo, files: { 'a.py': 'A = 1\n' } })
    octokit = clientOf(github, { installationId: github.install({ account: at.owner }).id })
  })
  afterEach(() => github.close())

  it('send lists in pages, with links to the others', async () => {
    for (let count = 0; count < 5; count++) await repository.humanCommit('main', { 'a.py': `A = ${count}\n` })
    const page = await octokit.request('GET /repos/{owner}/{repo}/commits', { ...at, per_page: 2, page: 2 })
    expect(page.data).toHaveLength(2)
    const links = [...(page.headers.link ?? '').matchAll(/[?&]page=(\d)[^>]*>; rel="(\w+)"/g)]
    expect(links.map(([, number, rel]) => `${rel} ${number}`)).toEqual(['prev 1', 'first 1', 'next 3', 'last 3'])
  })

  it('work with the plugins that read all pages, try again, and wait as they are told', async () => {
    for (let count = 0; count < 5; count++) await repository.humanCommit('main', { 'a.py': `A = ${count}\n` })
    const told: number[] = []
    const again = (seconds: number) => told.push(seconds) > 0
    const throttle = { retryAfterBaseValue: 1, onRateLimit: again, onSecondaryRateLimit: again }
    const { id: appId, privateKey } = github.app
    const installationId = github.webhooks.deliveries[0]?.installationId
    const auth = { appId, privateKey, installationId }
    const Client = Octokit.plugin(paginateRest, throttling, retry)
    const client = new Client({
      baseUrl: github.apiUrl,
      authStrategy: createAppAuth,
      auth,
      throttle,
      retry: { retryAfterBaseValue: 1 },
    })
    github.faults.add({ how: 'secondary_limit', path: /commits$/, retryAfterSeconds: 7, skip: 1 })
    github.faults.add({ how: 'status', status: 502, path: /commits$/ }, { how: 'reset_before', path: /commits$/ })
    const commits = await client.paginate('GET /repos/{owner}/{repo}/commits', { ...at, per_page: 2 })
    expect(commits).toHaveLength(6)
    expect(told).toEqual([7])
  })

  it('answer 304 when nothing changed, which costs nothing', async () => {
    const first = await octokit.request(refs, main)
    const headers = { 'if-none-match': first.headers.etag ?? '' }
    expect(await refusalOf(octokit.request(refs, { ...main, headers }))).toContain('304')
    const used = async () => (await octokit.request('GET /rate_limit')).data.rate.used
    const before = await used()
    await refusalOf(octokit.request(refs, { ...main, headers }))
    expect(await used()).toBe(before)
    await repository.humanCommit('main', { 'a.py': 'A = 2\n' })
    expect((await octokit.request(refs, { ...main, headers })).status).toBe(200)
  })

  it('stop an installation that has used its budget, until the hour is over', async () => {
    const { headers } = await octokit.request(refs, main)
    expect(headers['x-ratelimit-remaining']).toBe('4999')
    github.rateLimit.set(1)
    expect(await refusalOf(octokit.request(refs, main))).toContain('403 API rate limit exceeded for installation')
    github.advance(3_600_001)
    const fresh = clientOf(github, { installationId: Number(github.webhooks.deliveries[0]?.installationId) })
    expect((await fresh.request(refs, main)).status).toBe(200)
  })

  it('fail as planned: limits, errors and cut connections, before and after the effect', async () => {
    const create = (name: string) =>
      octokit.request('POST /repos/{owner}/{repo}/git/refs', { ...at, ref: `refs/heads/${name}`, sha: String(head) })
    const head = await repository.tip('main')
    const fault = { method: 'POST', path: /git\/refs$/ }
    await octokit.request(refs, main)
    github.faults.add(
      { ...fault, how: 'secondary_limit', retryAfterSeconds: 7 },
      { ...fault, how: 'status', status: 502 },
      { ...fault, how: 'reset_before' },
      { ...fault, how: 'reset_after' },
      { ...fault, how: 'slow', ms: 10, skip: 1 },
    )
    expect(await refusalOf(create('one'))).toContain('403 You have exceeded a secondary rate limit')
    expect(await refusalOf(create('two'))).toContain('502')
    expect(await refusalOf(create('three'))).toMatch(/500 |fetch failed/)
    expect(await refusalOf(create('four'))).toMatch(/500 |fetch failed/)
    expect((await create('five')).status).toBe(201)
    expect(await repository.branches()).toEqual(['five', 'four', 'main'])
    const asked = github.requests.filter(({ method }) => method === 'POST')
    expect(asked.map(({ status }) => status)).toEqual([201, 403, 502, undefined, undefined, 201])
  })

  it('can be watched at each request', async () => {
    const seen: string[] = []
    github.watch(({ when, path }) => void seen.push(`${when} ${path}`))
    await octokit.request(refs, main)
    expect(seen.slice(-2)).toEqual(
      ['before', 'after'].map((when) => `${when} /repos/acme/inventory/git/ref/heads%2Fmain`),
    )
  })

  it('find what GitHub does not have, would not take, or this fake lacks', async () => {
    const bad: [string, object][] = [
      ['GET /repos/{owner}/{repo}/nothing', {}],
      ['GET /repos/{owner}/{repo}/pulls', { state: 'merged' }],
      ['GET /repos/{owner}/{repo}/pulls', { sate: 'open' }],
      ['POST /repos/{owner}/{repo}/git/blobs', { text: 'x', content: 'x' }],
      ['POST /repos/{owner}/{repo}/git/refs', { ref: 'refs/heads/x' }],
      ['GET /repos/{owner}/{repo}/topics', {}],
    ]
    for (const [route, wanted] of bad)
      expect(await refusalOf(octokit.request(route, { ...at, ...wanted }))).toContain('500')
    expect(() => github.expectSound()).toThrow('not as GitHub has it')
    expect(github.takeViolations()).toHaveLength(6)
  })

  it('do not know a repository that is gone', async () => {
    await octokit.request(refs, main)
    repository.vanish()
    expect(await refusalOf(octokit.request(refs, main))).toBe('404 Not Found')
  })
})
