import { once } from 'node:events'
import { appendFile, chmod, mkdir, readdir, rename, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { openSmallRedis } from '#testing/redis.ts'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { runCommand } from './served-api.fixture.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

let dir = ''
useFreshFolder((path) => (dir = path))
beforeEach(async () => {
  await mkdir(join(dir, 'bin'))
})

const program = (name: string, body: string) =>
  writeFile(join(dir, 'bin', name), `#!/bin/sh\n${body}\n`, { mode: 0o755 })
const redis = (version: string) => program('redis-server', `echo "Redis server v=${version} sha=0"`)

const Report = z.object({
  ok: z.boolean(),
  findings: z.array(
    z.object({
      name: z.string(),
      state: z.enum(['ok', 'warning', 'missing']),
      needed: z.boolean(),
      found: z.string(),
      advice: z.string().optional(),
    }),
  ),
})

/** `remora doctor` on a machine that has only the programs of `bin`. */
async function doctor(env: Readonly<Record<string, string>> = {}, ...args: string[]) {
  const own = { PATH: join(dir, 'bin'), REMORA_DATA_DIR: join(dir, 'data'), XDG_CACHE_HOME: join(dir, 'cache') }
  return runCommand(['doctor', ...args], { cwd: dir, env: { ...own, ...env } })
}

async function diagnosed(env: Readonly<Record<string, string>> = {}) {
  const { out, code } = await doctor(env, '--json')
  const report = Report.parse(JSON.parse(out))
  const of = (name: string) => report.findings.filter((diagnosis) => diagnosis.name === name)
  return { code, ok: report.ok, of, first: (name: string) => of(name)[0] }
}

describe('remora doctor', () => {
  it('finds a machine with Redis fit, and says what else could be had', async () => {
    await redis('7.2.4')
    const { out, code } = await doctor()
    expect(code).toBe(0)
    expect(out).toContain(`ok       redis     7.2.4 at ${join(dir, 'bin', 'redis-server')}\n`)
    expect(out).toMatch(/^missing {2}git +not on the PATH \(optional\): install git$/m)
    expect(out).toMatch(
      /^warning {2}sandbox +bubblewrap is not installed.*: install bubblewrap; or set sandbox\.image.*, for agents/m,
    )
    expect(out).toContain('ok       gofmt     lint leaves Go alone: there is no gofmt on the search path\n')
    expect(out).toMatch(/^ok +node +\d+\./m)
    expect(out).toMatch(/^ok +versions +remora \d.*oxlint \d/m)
    expect(out).toMatch(/^ok +model +rehearsal model \(no LLM\)/m)
  })

  it.each([
    ['REMORA_AGENTS_DIR', 'nowhere', 'CONFIG_001'],
    ['REMORA_LANGUAGES', 'pyton', 'DISC_003'],
  ])('finds a machine unfit whose %s=%s every run refuses', async (name, value, code) => {
    await redis('7.2.4')
    const { of, ok, code: exitCode } = await diagnosed({ [name]: value })
    const found = expect.stringMatching(new RegExp(`^${code} .*${value}`))
    expect(of('settings')).toEqual(expect.arrayContaining([expect.objectContaining({ state: 'missing', found })]))
    expect([ok, exitCode]).toEqual([false, 1])
  })

  it('warns of settings under a name that is not read', async () => {
    await redis('7.2.4')
    await writeFile(join(dir, 'remora.yml'), '')
    const { first } = await diagnosed()
    expect(first('settings')).toMatchObject({ state: 'warning', advice: 'name it remora.yaml' })
  })

  it('ends with 1 without a Redis and a way to get one, and lists the commands to choose from', async () => {
    const { code, ok, first } = await diagnosed()
    expect({ code, ok }).toEqual({ code: 1, ok: false })
    expect(first('redis')).toMatchObject({ state: 'missing', needed: true })
    expect(first('redis')?.advice).toMatch(
      /"apt-get install redis-server", "dnf install valkey" or "brew install redis"/,
    )
  })

  it('never runs a program that lies in the data folder', async () => {
    await redis('7.2.4')
    await mkdir(join(dir, 'data', 'redis-program'), { recursive: true })
    const planted = join(dir, 'data', 'redis-program', 'redis-server')
    await rename(join(dir, 'bin', 'redis-server'), planted)
    await appendFile(planted, `: > ${join(dir, 'PWNED')}\n`)
    const { code, first } = await diagnosed()
    expect([code, first('redis')?.state]).toEqual([1, 'missing'])
    expect(await readdir(dir)).not.toContain('PWNED')
  })

  it.each(['', ' ', '.'])('never runs a program of the working folder, also with HOME=%j', async (home) => {
    await redis('7.2.4')
    await mkdir(join(dir, '.cache', 'remora'), { recursive: true })
    await chmod(join(dir, '.cache', 'remora'), 0o700)
    const planted = join(dir, '.cache', 'remora', 'redis-server')
    await rename(join(dir, 'bin', 'redis-server'), planted)
    await appendFile(planted, `: > ${join(dir, 'PWNED')}\n`)
    const before = process.cwd()
    process.chdir(dir)
    try {
      await diagnosed({ HOME: home, XDG_CACHE_HOME: home })
    } finally {
      process.chdir(before)
    }
    expect(await readdir(dir)).not.toContain('PWNED')
  })

  it('says that the first run gets Redis where that needs no password, unless it may not', async () => {
    await program('apt-get', 'exit 1')
    await program('sudo', 'exit 0')
    const { code, first } = await diagnosed()
    expect(code).toBe(0)
    expect(first('redis')).toMatchObject({ state: 'warning', found: expect.stringContaining('with apt-get') })
    expect(first('git')?.advice).toMatch(/^(?:sudo )?apt-get install git$/)
    const never = await diagnosed({ REMORA_REDIS_INSTALL: 'never' })
    expect([never.code, never.first('redis')?.state]).toEqual([1, 'missing'])
  })

  it('says why a sandbox does not work', async () => {
    await redis('7.2.4')
    await chmod(dir, 0o755) // root starts it as another user
    const fails = 'echo "bwrap: No permissions to create a new namespace" >&2; exit 1'
    await program('bwrap', `case "$1" in --version) echo "bubblewrap 0.8.0";; *) ${fails};; esac`)
    const { first } = await diagnosed()
    expect(first('sandbox')).toMatchObject({ state: 'warning', found: expect.stringContaining('No permissions') })
    expect(first('sandbox')?.advice).toContain('user namespaces')
  })

  it('asks every model server, and shows no key', async () => {
    await redis('7.2.4')
    const server = createServer((request, response) => {
      const known = request.headers.authorization === 'Bearer key-of-mine'
      response.writeHead(known ? 200 : 401).end(known ? JSON.stringify({ data: [{ id: 'small-model' }] }) : '{}')
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const urls = `http://127.0.0.1:${boundPort(server)}/v1,http://127.0.0.1:1/v1`
    const env = { REMORA_MODEL_URLS: urls, REMORA_TOKEN: 'token-of-mine-0123' }
    const refused = await diagnosed(env)
    expect(refused.of('model')[0]?.advice).toBe('set REMORA_MODEL_API_KEY')
    const { out, code } = await doctor({ ...env, REMORA_MODEL_API_KEY: 'key-of-mine' })
    await closeServer(server)
    expect(code).toBe(0)
    expect(out).toMatch(/^ok +model +http:\S+\/v1 offers small-model$/m)
    expect(out).toMatch(/^warning +model +CONFIG_005 http:\/\/127\.0\.0\.1:1\/v1 does not answer/m)
    expect(out).not.toMatch(/key-of-mine|token-of-mine/)
  })

  it('asks the Redis of the services whether it keeps what it is given', async () => {
    const small = await openSmallRedis()
    const ask = async () => (await diagnosed({ REMORA_REDIS_URL: small.url })).first('redis server')
    expect(await ask()).toMatchObject({ state: 'ok', found: expect.stringMatching(/: it answers$/) })
    await small.redis.config('SET', 'maxmemory-policy', 'volatile-lru')
    expect(await ask()).toMatchObject({
      state: 'missing',
      needed: true,
      found: expect.stringContaining('volatile-lru'),
    })
    await small.close()
    expect(await ask()).toMatchObject({ state: 'missing', found: expect.stringContaining('it cannot be reached') })
  })

  it('needs no Redis where a service runs elsewhere, but that service', async () => {
    const { code, of } = await diagnosed({ REMORA_API_URL: 'http://127.0.0.1:1' })
    expect(code).toBe(1)
    expect(of('redis')[0]).toMatchObject({ needed: false })
    expect(of('api')[0]).toMatchObject({ state: 'missing', needed: true })
  })
})
