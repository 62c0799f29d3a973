import { createRequire } from 'node:module'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Octokit } from '@octokit/core'
import { Webhooks } from '@octokit/webhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { lacks } from '../this-machine.ts'
import type { FakeRepository } from './host-repository.ts'
import { clientOf, receiveWebhooks, refusalOf } from './octokit.fixture.ts'
import { isRecord } from './openapi-schema.ts'
import { runGit } from './run-git.ts'
import { type FakeGitHub, startFakeGitHub } from './start-fake-github.ts'

const require = createRequire(import.meta.url)
const Examples = z.array(
  z.object({ name: z.string(), examples: z.array(z.looseObject({ action: z.string().optional() })) }),
)

describe.skipIf(lacks('git'))('webhooks of the fake GitHub', () => {
  let github: FakeGitHub
  let repository: FakeRepository
  let receiver: Awaited<ReturnType<typeof receiveWebhooks>>
  let app: Octokit

  beforeEach(async () => {
    receiver = await receiveWebhooks()
    github = await startFakeGitHub()
    repository = await github.addRepository({ owner: 'acme', name: 'inventory', files: { 'a.py': 'A = 1\n' } })
    github.install({ account: 'acme' })
    await github.webhooks.settled()
    github.webhooks.sendTo(receiver.url)
    app = clientOf(github)
  })
  afterEach(async () => {
    await github.close()
    await receiver.close()
  })

  const events = () => receiver.received.map(({ event }) => event)
  const push = () => repository.humanCommit('main', { 'a.py': `A = ${Math.random()}\n` })
  const deliveries = (query: { per_page?: number; cursor?: string } = {}) =>
    app.request('GET /app/hook/deliveries', query)

  it('are sent after a real git push, signed so that octokit takes them', async () => {
    const clone = await mkdtemp(join(tmpdir(), 'clone-'))
    await runGit(clone, ['clone', '--quiet', repository.gitPath, '.'])
    await writeFile(join(clone, 'b.py'), 'B = 1\n')
    await runGit(clone, ['add', '.'])
    await runGit(clone, ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', 'commit', '--quiet', '-m', 'Add b'])
    await runGit(clone, ['push', '--quiet', 'origin', 'main', 'main:topic'], {
      variables: { FAKE_GITHUB_PUSHER: 'grace' },
    })
    await rm(clone, { recursive: true })
    await github.webhooks.settled()
    expect(events()).toEqual(['push', 'check_suite', 'push', 'check_suite'])
    const hooks = new Webhooks({ secret: github.app.webhookSecret })
    const [first] = receiver.received
    expect(await hooks.verify(first?.body ?? '', first?.signature ?? '')).toBe(true)
    expect(await hooks.verify(`${first?.body} `, first?.signature ?? '')).toBe(false)
    expect(JSON.parse(first?.body ?? '')).toMatchObject({
      ref: 'refs/heads/main',
      after: await repository.tip('main'),
      forced: false,
      commits: [{ message: 'Add b', added: ['b.py'], removed: [], modified: [] }],
      sender: { login: 'grace' },
      repository: { full_name: 'acme/inventory' },
    })
  })

  it('tell of tags and of branches that go', async () => {
    await repository.humanCommit('topic', { 'a.py': 'A = 2\n' })
    const clone = await mkdtemp(join(tmpdir(), 'clone-'))
    const git = (...args: string[]) =>
      runGit(clone, ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org', ...args])
    await git('clone', '--quiet', repository.gitPath, '.')
    await git('tag', '-a', 'v1', '-m', 'First')
    await git('push', '--quiet', 'origin', 'v1', ':topic')
    await rm(clone, { recursive: true })
    await github.webhooks.settled()
    const sent = receiver.received.map(({ body }) => JSON.parse(body)).filter(({ ref }) => ref !== undefined)
    expect(sent.map(({ ref, created, deleted }) => [ref, created, deleted])).toEqual([
      ['refs/heads/topic', true, false],
      ['refs/heads/topic', false, true],
      ['refs/tags/v1', true, false],
    ])
    expect(sent[2]).toMatchObject({ head_commit: { id: await repository.tip('main') } })
  })

  it('are sent after a push over HTTP, which needs credentials', async () => {
    const { data } = await app.request('POST /app/installations/{installation_id}/access_tokens', {
      installation_id: Number(github.webhooks.deliveries[0]?.installationId),
      permissions: { contents: 'read' },
    })
    const urlFor = (user: string) => repository.cloneUrl.replace('//', `//${user}@`)
    const clone = await mkdtemp(join(tmpdir(), 'clone-'))
    const pushTo = async (url: string) =>
      (await runGit(clone, ['push', '--quiet', url, 'main:new'], { allow: [1, 128] })).code
    await runGit(clone, ['clone', '--quiet', repository.cloneUrl, '.'])
    expect(await pushTo(repository.cloneUrl)).toBe(128)
    expect(await pushTo(urlFor(`x-access-token:${data.token}`))).toBe(128)
    expect(await pushTo(urlFor('ada:any'))).toBe(0)
    await rm(clone, { recursive: true })
    await github.webhooks.settled()
    expect(receiver.received.map(({ body }) => JSON.parse(body))[0]).toMatchObject({ sender: { login: 'ada' } })
  })

  it('have all that the examples of GitHub have in common', async () => {
    await repository.humanCommit('topic', { 'b.py': 'B = 1\n' })
    await repository.openPull({ head: 'topic' })
    repository.comment(1, '/remora retry')
    await repository.humanCommit('topic', { 'b.py': 'B = 2\n' })
    const headSha = (await repository.tip('topic')) ?? ''
    const run = repository.otherCheckRun({ app: 'tests', name: 'tests', headSha, conclusion: 'failure' })
    repository.rerequest(run.id)
    await repository.mergePull(1)
    const examples = Examples.parse(require('@octokit/webhooks-examples'))
    for (const { event, action, payload } of github.webhooks.deliveries) {
      const known = examples.find(({ name }) => name === event)?.examples ?? []
      const same = known.filter((one) => action === null || one.action === action).map((one) => names(one))
      const common = (same[0] ?? []).filter((name) => same.every((one) => one.includes(name)))
      const own = new Set(names(payload))
      const missing = common.filter((name) => !own.has(name) && !/organization|^installation\./.test(name))
      expect({ event, action, missing }).toEqual({ event, action, missing: [] })
    }
  })

  it('can be lost, doubled, late or in another order', async () => {
    github.webhooks.drop(1, 'push')
    github.webhooks.double(1, 'check_suite')
    await push()
    await github.webhooks.settled()
    expect(events()).toEqual(['check_suite', 'check_suite'])
    expect(new Set(receiver.received.map(({ guid }) => guid)).size).toBe(1)
    receiver.received.length = 0
    github.webhooks.hold()
    const order = [await push(), await push()]
    github.webhooks.release((waiting) => waiting.filter(({ event }) => event === 'push').toReversed())
    await github.webhooks.settled()
    expect(receiver.received.map(({ body }) => String(JSON.parse(body).after))).toEqual(order.toReversed())
    receiver.received.length = 0
    github.webhooks.delay(50, 1, 'push')
    await push()
    await github.webhooks.settled()
    expect(events()).toEqual(['check_suite', 'push'])
  })

  it('can be asked for, page by page, for three days, and again', async () => {
    github.webhooks.drop()
    await push()
    await push()
    await github.webhooks.settled()
    const first = await deliveries({ per_page: 2 })
    const next = /cursor=(\w+).*rel="next"/.exec(first.headers.link ?? '')?.[1] ?? ''
    const second = await deliveries({ per_page: 10, cursor: next })
    expect(second.headers.link).toBeUndefined()
    const all = [...first.data, ...second.data]
    expect(all.map(({ event }) => event)).toEqual(['check_suite', 'push', 'check_suite', 'push', 'installation'])
    const [lost] = all.filter(({ event, status_code: code }) => event === 'push' && code !== 200)
    const one = { delivery_id: Number(lost?.id) }
    const read = await app.request('GET /app/hook/deliveries/{delivery_id}', one)
    expect(read.data).toMatchObject({ guid: lost?.guid, request: { payload: { ref: 'refs/heads/main' } } })
    receiver.received.length = 0
    await app.request('POST /app/hook/deliveries/{delivery_id}/attempts', one)
    await github.webhooks.settled()
    expect(receiver.received.map(({ guid }) => guid)).toEqual([lost?.guid])
    expect((await deliveries()).data[0]).toMatchObject({ guid: lost?.guid, redelivery: true, status: 'OK' })
    expect(await refusalOf(deliveries({ cursor: 'wrong' }))).toContain('422')
    github.advance(3 * 24 * 3_600_000 + 1_000)
    expect((await deliveries()).data).toEqual([])
  })
})

/** Of a payload, three levels deep: `repository.owner.login`. */
function names(value: unknown, before = ''): string[] {
  if (!isRecord(value) || before.split('.').length > 3) return []
  return Object.entries(value).flatMap(([name, one]) => [before + name, ...names(one, `${before}${name}.`)])
}
