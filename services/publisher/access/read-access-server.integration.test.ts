import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ReadAccess, readAccessPath, ReadAccessRefusal } from '#code-hosts/read-access.ts'
import type { RepositorySource } from '#domain/repository-source.ts'
import { aNewRun, anEvent } from '#testing/open-test-ledger.ts'
import { until } from '#testing/until.ts'
import { lacks } from '#testing/this-machine.ts'
import { usePublisher } from '../published-run.fixture.ts'
import type { TestPublisher } from '../test-publisher.fixture.ts'
import { openReadAccess } from './read-access-server.ts'
import { runKeys } from '#store/ledger/keys.ts'

const secret = 'only-for-this-test-0123'

describe.skipIf(lacks('git'))('the right to read the code of a run', () => {
  const at = usePublisher()
  let publisher: TestPublisher
  let access: Awaited<ReturnType<typeof openReadAccess>>
  beforeAll(async () => {
    publisher = at.publisher
    const { reads } = publisher.host()
    access = await openReadAccess(
      { host: '127.0.0.1', port: 0, secret },
      { ...reads, apiUrl: publisher.github.apiUrl, log: publisher.log.log },
    )
  })
  afterAll(() => access.close())

  async function newRun(about: Partial<RepositorySource> = {}, projectId = publisher.project): Promise<string> {
    const { id, owner, name } = publisher.repository
    const source: RepositorySource = {
      host: 'github',
      installationId: publisher.installation.id,
      repository: { id, owner, name },
      ref: 'main',
      isFork: false,
      ...about,
    }
    const run = aNewRun({ projectId })
    await publisher.ledger.createRun({ ...run, request: { ...run.request, repository: source } })
    return run.runId
  }

  async function ask(body: object, authorization = `Bearer ${secret}`): Promise<unknown> {
    const headers = { authorization, 'content-type': 'application/json' }
    const url = `http://127.0.0.1:${access.port}${readAccessPath}`
    return (await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  }
  const codeOf = async (body: object, authorization?: string) =>
    ReadAccessRefusal.parse(await ask(body, authorization)).error_code

  it('is not given for a run that somebody has written into Redis', async () => {
    const runId = await newRun({ ref: 'main' })
    const { run } = runKeys(publisher.namespace, runId)
    const request = (await publisher.redis.hget(run, 'request')) ?? ''
    await publisher.redis.hset(run, 'request', request.replace('"ref":"main"', '"ref":"release"'))
    expect(await codeOf({ run_id: runId })).toBe('PUBLISH_005')
  })

  it('is a token that reads this repository and nothing else', async () => {
    const { commit, base, archive } = ReadAccess.parse(await ask({ run_id: await newRun() }))
    expect(commit).toBe(await publisher.repository.tip('main'))
    expect(base).toBeNull()
    expect((await fetch(archive.url, { headers: archive.headers })).status).toBe(200)
    const next = ReadAccess.parse(await ask({ run_id: await newRun() }))
    expect(next.archive.headers['authorization']).not.toBe(archive.headers['authorization'])
    const other = await publisher.addRepository('other')
    const elsewhere = archive.url.replace(publisher.repository.name, other.name)
    expect((await fetch(elsewhere, { headers: archive.headers })).status).toBe(404)
    const written = await fetch(`${publisher.github.apiUrl}/repos/acme/${publisher.repository.name}/git/blobs`, {
      method: 'POST',
      headers: { ...archive.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ content: 'x', encoding: 'utf-8' }),
    })
    expect(written.status).toBe(403)
  })

  it('is about the commit that was asked for, and about what it is compared with while that is there', async () => {
    const first = (await publisher.repository.tip('main')) ?? ''
    const second = await publisher.repository.humanCommit('main', { 'new.py': 'new = 1\n' })
    const runId = await newRun({ since: { commit: first } })
    expect(await ask({ run_id: runId, commit: first })).toMatchObject({ commit: first, base: { commit: first } })
    expect(await ask({ run_id: runId })).toMatchObject({ commit: second, base: { commit: first } })
    const gone = await newRun({ since: { commit: 'd'.repeat(40) } })
    expect(await ask({ run_id: gone })).toMatchObject({ commit: second, base: null })
  })

  it('is to be asked for again when a limit of GitHub is over', async () => {
    publisher.github.faults.add({
      how: 'status',
      status: 429,
      retryAfterSeconds: 3_000,
      method: 'GET',
      path: /commits/,
    })
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ run_id: await newRun() })
    const post = () => fetch(`http://127.0.0.1:${access.port}${readAccessPath}`, { method: 'POST', headers, body })
    const before = publisher.github.requests.length
    for (const answer of [await post(), await post()]) {
      expect(answer.status).toBe(503)
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(1_000)
    }
    expect(publisher.github.requests.slice(before).filter(({ path }) => path.includes('commits'))).toHaveLength(1)
    await until(post, { holds: ({ status }) => status === 200 })
  })

  it('is given to nobody without the secret', async () => {
    const runId = await newRun()
    for (const authorization of ['', 'Bearer', `Bearer ${secret}x`, secret])
      expect(await codeOf({ run_id: runId }, authorization)).toBe('HOST_003')
  })

  it('is not given for another project, an unknown commit, or a run that does not wait for code', async () => {
    expect(await codeOf({ run_id: await newRun({}, 'strangers') })).toBe('HOST_002')
    expect(await codeOf({ run_id: await newRun({ installationId: 99 }) })).toBe('HOST_002')
    expect(await codeOf({ run_id: await newRun({ ref: 'nowhere' }) })).toBe('HOST_004')
    expect(await codeOf({ run_id: 'r0000000000' })).toBe('RUN_001')
    const ended = await newRun()
    const events = [anEvent({ event: 'run.cancelled', phase: 'snapshot' })]
    await publisher.ledger.move(ended, {
      from: [{ status: 'queued' }],
      to: { status: 'cancelled' },
      command: 'end',
      events,
    })
    expect(await codeOf({ run_id: ended })).toBe('RUN_001')
  })
})
