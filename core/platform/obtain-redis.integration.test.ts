import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { obtainRedis, type RedisWish } from './obtain-redis.ts'

let dir = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-obtain-'))
  await mkdir(join(dir, 'bin'))
})
afterEach(async () => {
  await rm(dir, { recursive: true, force: true })
})

/** A program of the PATH these tests have; it notes down how it was called. */
async function program(name: string, body = '') {
  const script = `#!/bin/sh\necho "${name} $*" >> ${join(dir, 'calls')}\n${body}\n`
  await writeFile(join(dir, 'bin', name), script, { mode: 0o755 })
}

/** What a package manager writes when it installs a server under `name`. */
const installs = (name: string) =>
  `printf '#!/bin/sh\\necho "Redis server v=7.9.1 sha=0"\\n' > ${join(dir, 'bin', name)}; /bin/chmod 755 ${join(dir, 'bin', name)}`

/** A package manager that waits for the file `go`, and notes when it is done. */
const slowly = 'cd "${0%/bin/*}"; : > started; until test -f go; do /bin/sleep 0.05; echo working; done; : > done'

const calls = async () => (await readFile(join(dir, 'calls'), 'utf8').catch(() => '')).trimEnd().split('\n')

function obtain(wish: Partial<RedisWish> = {}) {
  const said: string[] = []
  const all: RedisWish = {
    searchPath: join(dir, 'bin'),
    programDir: join(dir, 'own'),
    mayInstall: true,
    isRoot: true,
    env: {},
    say: (line) => void said.push(line),
    signal: new AbortController().signal,
    ...wish,
  }
  return { said, got: obtainRedis(all) }
}

describe('a Redis for the stack', () => {
  it('is that on the PATH, or Valkey', async () => {
    await program('valkey-server', 'echo "Valkey server v=1.0.0 sha=0"')
    await program('apt-get')
    expect(await obtain().got).toBe(join(dir, 'bin', 'valkey-server'))
    await program('redis-server', 'echo "Redis server v=7.0.15 sha=0"')
    expect(await obtain().got).toBe(join(dir, 'bin', 'redis-server'))
    expect((await calls()).every((call) => call.endsWith('-server --version'))).toBe(true)
  })

  it('is not one that is too old: the next way is taken, and at last it is named', async () => {
    await program('redis-server', 'echo "Redis server v=6.0.16 sha=0"')
    await expect(obtain().got).rejects.toMatchObject({ code: 'CONFIG_006' })
    await expect(obtain().got).rejects.toThrow(
      `Redis 6.0.16 at ${join(dir, 'bin', 'redis-server')} is too old, 7 or a Valkey is needed (`,
    )
    await program('apt-get', installs('redis-check-rdb').replace('7.9.1', '6.0.16'))
    await expect(obtain().got).rejects.toThrow(/what apt-get has is no server of Redis 7.*"apt-get install make gcc/)
    await program('valkey-server', 'echo "Valkey server v=8.0.1 sha=0"')
    expect(await obtain().got).toBe(join(dir, 'bin', 'valkey-server'))
  })

  it('comes from apt-get without a service, under the name its package does not give it, and is found again', async () => {
    await program('apt-get', installs('redis-check-rdb'))
    const { got, said } = obtain()
    expect(await got).toBe(join(dir, 'own', 'redis-server'))
    expect(said).toEqual(['Redis is not installed: getting redis-tools with apt-get (starts no service)'])
    expect(await calls()).toEqual([
      expect.stringMatching(/^apt-get .* install -y --no-install-recommends redis-tools$/),
    ])
    expect(await obtain({ mayInstall: false }).got).toBe(join(dir, 'own', 'redis-server'))
  })

  it('has the lists of packages brought up to date when the first try finds none', async () => {
    const lists = join(dir, 'lists')
    const install = `test -f ${lists} || { echo 'E: Unable to locate package' >&2; exit 100; }; ${installs('redis-check-rdb')}`
    await program('apt-get', `case "$*" in *update) : > ${lists};; *) ${install};; esac`)
    await obtain().got
    expect((await calls()).map((call) => call.split(' ').at(-1))).toEqual(['redis-tools', 'update', 'redis-tools'])
  })

  it.each(['dnf', 'apk'])('is asked of %s as valkey, then as redis', async (name) => {
    await program(name, `case "$*" in *redis) ${installs('redis-server')};; *) exit 1;; esac`)
    expect(await obtain().got).toBe(join(dir, 'bin', 'redis-server'))
    expect((await calls()).map((call) => call.split(' ').at(-1))).toEqual(['valkey', 'redis'])
  })

  it('comes from brew for a user, never for root', async () => {
    await program('brew', installs('redis-server'))
    await expect(obtain({ isRoot: true }).got).rejects.toThrow(/brew refuses root/)
    expect(await obtain({ isRoot: false }).got).toBe(join(dir, 'bin', 'redis-server'))
  })

  it('is installed through sudo only where sudo asks for no password', async () => {
    await program('apt-get', installs('redis-check-rdb'))
    await program('sudo', 'echo "sudo: a password is required" >&2; exit 1')
    await expect(obtain({ isRoot: false }).got).rejects.toThrow(/apt-get needs a password.*"sudo apt-get install/)
    expect(await calls()).toEqual(['sudo -n true'])
    await program('sudo', 'shift; exec "$@"')
    expect(await obtain({ isRoot: false }).got).toBe(join(dir, 'own', 'redis-server'))
    expect((await calls()).map((call) => call.split(' ')[0])).toEqual(['sudo', 'sudo', 'sudo', 'apt-get'])
  })

  it('is missing in one line that says why and what to choose from on this system', async () => {
    await program('dnf', 'echo progress; echo "Error: no network" >&2; exit 1')
    const { got } = obtain()
    await expect(got).rejects.toMatchObject({ code: 'CONFIG_006' })
    await expect(got).rejects.toThrow(
      'Redis is not installed (dnf did not get it: Error: no network; a build needs make and a C compiler): ' +
        'choose "dnf install valkey", "dnf install make gcc" (Remora then builds it), ' +
        'or "export REMORA_API_URL=http://HOST:8420" to use a service that runs elsewhere',
    )
    expect(await readdir(join(dir, 'own'))).toEqual(['package-manager.log'])
  })

  it('is not got when it may not be', async () => {
    await program('apt-get', installs('redis-check-rdb'))
    const { got, said } = obtain({ mayInstall: false })
    await expect(got).rejects.toThrow(/^Redis is not installed: choose "apt-get install redis-server"/)
    expect([said, await calls()]).toEqual([[], ['']])
  })

  it('is never one of a folder that others can write', async () => {
    await mkdir(join(dir, 'own'))
    await chmod(join(dir, 'own'), 0o777)
    await program('redis-server', 'echo "Redis server v=7.9.1 sha=0"')
    await rename(join(dir, 'bin', 'redis-server'), join(dir, 'own', 'redis-server'))
    await program('apt-get', installs('redis-check-rdb'))
    await expect(obtain().got).rejects.toThrow(`${join(dir, 'own')} must be a folder of this user`)
    await expect(obtain({ mayInstall: false }).got).rejects.toMatchObject({ code: 'CONFIG_006' })
    expect(await calls()).toEqual([''])
  })

  it('comes to each of many commands that begin at once', async () => {
    await program('apt-get', installs('redis-check-rdb'))
    const own = join(dir, 'own', 'redis-server')
    const all = await Promise.all(Array.from({ length: 20 }, () => obtain().got))
    expect(new Set(all)).toEqual(new Set([own]))
    expect((await readdir(join(dir, 'own'))).toSorted()).toEqual(['package-manager.log', 'redis-server'])
  })

  it('is got with no secret of the command', async () => {
    await program('apt-get', `/usr/bin/env > ${join(dir, 'env')}; ${installs('redis-check-rdb')}`)
    await program('sudo', `/usr/bin/env >> ${join(dir, 'sudo-env')}; shift; exec "$@"`)
    const env = { PATH: '/usr/bin:/bin', HOME: '/home/me', REMORA_TOKEN: 'token-of-mine', REMORA_MODEL_API_KEY: 'key' }
    await obtain({ env, isRoot: false }).got
    for (const name of ['env', 'sudo-env']) {
      const told = await readFile(join(dir, name), 'utf8')
      expect(told).toContain('HOME=/home/me\n')
      expect(told).not.toContain('REMORA_')
    }
  })

  it('is not got for a user without a home, and that is said', async () => {
    await program('apt-get', installs('redis-check-rdb'))
    await expect(obtain({ programDir: undefined }).got).rejects.toThrow(
      /^Redis is not installed \(this user has no home folder to keep a program in\): choose/,
    )
    expect(await calls()).toEqual([''])
  })

  it('is known anew when what was got before is gone', async () => {
    await program('apt-get', installs('redis-check-rdb'))
    await obtain().got
    await rm(join(dir, 'bin', 'redis-check-rdb'))
    await obtain().got
    expect(await calls()).toHaveLength(2)
  })

  it('is given up at once when the command is stopped, and the package manager goes on unharmed', async () => {
    const stop = new AbortController()
    await program('apt-get', slowly)
    const { got, said } = obtain({ signal: stop.signal })
    await until(async () => (await readdir(dir)).includes('started'))
    stop.abort(new Error('interrupted'))
    await expect(got).rejects.toThrow('interrupted')
    expect(said.at(-1)).toBe('apt-get is not stopped halfway: it continues in the background')
    await writeFile(join(dir, 'go'), '')
    await until(async () => (await readdir(dir)).includes('done'))
  })

  it('is not looked for elsewhere while a package manager that takes too long goes on', async () => {
    await program('apt-get', slowly)
    await program('make', ': > built')
    await program('cc')
    const { got, said } = obtain({ installLimitMs: 50 })
    await expect(got).rejects.toThrow(
      /^apt-get takes longer than 0\.05 s and continues in the background: wait until it has ended/,
    )
    expect(said).toHaveLength(1)
    await until(async () => (await readdir(dir)).includes('started'))
    await writeFile(join(dir, 'go'), '')
    await until(async () => (await readdir(dir)).includes('done'))
    expect(await calls()).toHaveLength(1)
  })
})
