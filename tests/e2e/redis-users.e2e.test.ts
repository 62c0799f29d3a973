import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type LocalRedis, startLocalRedis } from '#platform/local-redis.ts'
import { aclFile, type RedisUser, redisUser } from '#store/ledger/redis-users.ts'
import { startTestS3 } from '#testing/s3.ts'
import { freePorts, lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { startWithGitHub } from '../github-host.ts'
import { openPrograms } from '../program.ts'

const passwordOf = (user: RedisUser) => `the-password-of-the-${user}`
const OneEntry = z.tuple([z.tuple([z.string(), z.tuple([z.tuple([z.string()]).rest(z.unknown())])])])
const shop = { 'shop/prices.py': 'import os\n\n\ndef price(amount: int) -> int:\n    return amount * 3\n' }

describe.skipIf(lacks('git'))('services with a user of Redis each', () => {
  const programs = openPrograms()
  const open: { dir?: string; redis?: LocalRedis; s3?: { stop(): Promise<void> } } = {}
  const clients: Redis[] = []
  let port = 0
  let host: Awaited<ReturnType<typeof startWithGitHub>>
  const urlOf = (user: RedisUser) => `redis://${redisUser(user)}:${passwordOf(user)}@127.0.0.1:${port}`
  const connect = (url: string) => {
    const client = new Redis(url)
    clients.push(client)
    return client
  }

  beforeAll(async () => {
    const dir = (open.dir = await mkdtemp(join(tmpdir(), 'remora-redis-users-')))
    const admin = 'user admin on >the-password-of-the-operator ~* &* +@all'
    await writeFile(join(dir, 'users.acl'), `${aclFile(passwordOf)}${admin}\n`)
    ;[port = 0] = await freePorts(1)
    const settings = { port: String(port), aclfile: join(dir, 'users.acl') }
    open.redis = await startLocalRedis({ env: process.env, dir: join(dir, 'data'), settings })
    const { s3, stop } = await startTestS3()
    open.s3 = { stop }
    host = await startWithGitHub(programs, {
      stores: { redisUrl: urlOf('api'), s3, stop },
      envOf: (service) => ({ REMORA_REDIS_URL: urlOf(service) }),
    })
    host.github.install({ account: 'acme' })
  })
  afterAll(async () => {
    for (const client of clients) client.disconnect()
    await programs.end()
    await host?.stop()
    await open.redis?.stop()
    if (open.dir !== undefined) await rm(open.dir, { recursive: true, force: true })
  })

  const refusals = async () => {
    const admin = connect(`redis://admin:the-password-of-the-operator@127.0.0.1:${port}`)
    return z.array(z.unknown()).parse(await admin.call('ACL', 'LOG'))
  }

  it('publish a push, and what a person asks for and decides; no command is refused', async () => {
    const { github, services, checked } = host
    const repository = await github.addRepository({ owner: 'acme', name: 'shop', files: { 'README.md': '# Shop\n' } })
    const runId = await checked(repository, await repository.humanCommit('main', shop), 240_000)
    expect(await refusals()).toEqual([])
    expect(repository.pulls()).toMatchObject([{ state: 'open', head: { ref: 'remora/main' } }])
    const post = async (path: string, body: object) => {
      const headers = { 'content-type': 'application/json' }
      return services.api.ask(path, { method: 'POST', headers, body: JSON.stringify(body) })
    }
    expect((await post(`/v1/runs/${runId}/decisions`, { where: {}, verdict: 'reject' })).status).toBe(200)
    await until(() => repository.pulls(), {
      holds: (pulls) => pulls.every(({ state }) => state === 'closed'),
      withinMs: 60_000,
    })
    const made = z.looseObject({ token_id: z.string() }).parse(await (await post('/v1/tokens', {})).json())
    expect((await services.api.ask(`/v1/tokens/${made.token_id}`, { method: 'DELETE' })).status).toBe(204)
    expect(await refusals()).toEqual([])
    for (const { name, out, err } of services.all) expect(`${out()}${err()}`, name).not.toMatch(/NOPERM/)
  })

  it.each([
    ['the inbox of the publisher', ['XADD', 'remora:{github}:inbox', '*', 'd', '{}']],
    ['tokens', ['HSET', 'remora:{tokens}:records', 'x', '{}']],
    ['what people have decided', ['HSET', 'remora:{r12345678}:decisions', 'c1', 'accepted']],
    [
      'what people have decided, by a script',
      ['EVAL', "return redis.call('DEL', KEYS[1])", '1', 'remora:{r12345678}:decisions'],
    ],
    [
      'what people have decided, by a script that does not say so',
      ['EVAL', "return redis.call('DEL', 'remora:{r12345678}:decisions')", '0'],
    ],
    ['what was asked of the publisher', ['SET', 'remora:{r12345678}:publication', '1 - {}']],
    ['what the watcher knows of a run', ['HSET', 'remora:{r12345678}:watch', 'state', '{}']],
    ['what a conductor has decided', ['HSET', 'remora:{r12345678}:agenda', 'state', '{}']],
    ['the memory of declined changes', ['DEL', 'remora:{github}:declined:1']],
    ['the queue of publications', ['HSET', '{remora}:publications:1', 'data', '{}']],
    ['the users', ['ACL', 'SETUSER', 'remora-worker', '~*']],
    ['all that there is', ['FLUSHALL']],
  ])('keep a worker from %s', async (_, [command = '', ...args]) => {
    const worker = connect(urlOf('worker'))
    await expect(worker.call(command, ...args)).rejects.toThrow(/NOPERM|can't access at least one of the keys/)
    expect(await worker.set('remora:{r12345678}:cascade', 'x', 'EX', 1)).toBe('OK')
  })

  it('let a reader of the events of all runs read and acknowledge them, and nothing else', async () => {
    const admin = connect(`redis://admin:the-password-of-the-operator@127.0.0.1:${port}`)
    await admin.xgroup('CREATE', 'remora:events', 'audit', '0', 'MKSTREAM')
    const reader = connect(urlOf('reader'))
    const read = await reader.xreadgroup('GROUP', 'audit', 'one', 'COUNT', 1, 'STREAMS', 'remora:events', '>')
    const [[, [[id]]]] = OneEntry.parse(read)
    expect(await reader.xack('remora:events', 'audit', id)).toBe(1)
    for (const [command, ...args] of [
      ['XADD', 'remora:events', '*', 'run', 'x'],
      ['XTRIM', 'remora:events', 'MAXLEN', '0'],
      ['XGROUP', 'DESTROY', 'remora:events', 'audit'],
      ['XREAD', 'STREAMS', 'remora:results', '0'],
      ['HGETALL', 'remora:{tokens}:records'],
      ['XREADGROUP', 'GROUP', 'audit', 'one', 'STREAMS', 'remora:results', '>'],
      ['PUBLISH', 'remora:told', 'x'],
    ] as const)
      await expect(reader.call(command, ...args), command).rejects.toThrow(/NOPERM/)
  })
})
