import { chmod, mkdir, mkdtemp, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { until } from '#testing/until.ts'
import { bubblewrap, redisServer } from './known-programs.ts'
import { type ObtainOptions, obtainProgram } from './obtain-program.ts'

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

const serverScript = (version: string) => `#!/bin/sh\\necho "Redis server v=${version} sha=0"\\n`

/** What a package manager writes when it installs a server under `name`. */
const installs = (name: string) =>
  `printf '${serverScript('7.9.1')}' > ${join(dir, 'bin', name)}; /bin/chmod 755 ${join(dir, 'bin', name)}`

/** Puts an archive where the settings of apt-get say. */
const downloads = 'for arg; do case $arg in Dir::Cache=*) : > "${arg#*=}/archives/redis.deb";; esac; done'

/** apt-get and dpkg-deb of a system whose package holds a server of this version, with a library. */
async function debian({ apt = downloads, version = '7.9.1' } = {}) {
  await program('apt-get', apt)
  const [server, library] = ['"$3/usr/bin/redis-check-rdb"', '"$3/usr/lib/any/libown.so.1"']
  const makes = `/bin/mkdir -p "$3/usr/bin" "$3/usr/lib/any"; : > ${library}; printf '${serverScript(version)}' > ${server}`
  await program('dpkg-deb', `${makes}; /bin/chmod 755 ${server}`)
}

/** The calls of package managers, without their settings. */
const commands = async () =>
  (await calls()).map((call) => call.replaceAll(/ -o \S+/g, '')).filter((call) => !call.startsWith('dpkg-deb'))

/** A package manager that waits for the file `go`, and notes when it is done. */
const slowly = 'cd "${0%/bin/*}"; : > started; until test -f go; do /bin/sleep 0.05; echo working; done; : > done'

const calls = async () => (await readFile(join(dir, 'calls'), 'utf8').catch(() => '')).trimEnd().split('\n')

function obtain(changed: Partial<ObtainOptions> = {}, wanted = redisServer) {
  const said: string[] = []
  const all: ObtainOptions = {
    searchPath: join(dir, 'bin'),
    programDir: join(dir, 'own'),
    mayInstall: true,
    isRoot: true,
    env: {},
    say: (line) => void said.push(line),
    signal: new AbortController().signal,
    ...changed,
  }
  const obtaining = obtainProgram(wanted, all)
  return { said, got: obtaining.then(({ path, lack }) => path ?? lack) }
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
    expect(await obtain().got).toContain(
      `Redis 6.0.16 at ${join(dir, 'bin', 'redis-server')} is too old, 7 or a Valkey is needed (`,
    )
    await debian({ version: '6.0.16' })
    expect(await obtain().got).toMatch(
      /redis-tools has no Redis that can be used.*put a newer redis-server or valkey-server on the PATH/,
    )
    expect(await readdir(join(dir, 'own'))).toEqual([])
    await program('valkey-server', 'echo "Valkey server v=8.0.1 sha=0"')
    expect(await obtain().got).toBe(join(dir, 'bin', 'valkey-server'))
  })

  it('comes from a package of Debian that is unpacked, not installed, and is found again', async () => {
    await debian()
    const { got, said } = obtain({ isRoot: false })
    const own = join(dir, 'own', 'redis-server')
    expect(await got).toBe(own)
    expect(said).toEqual([
      `Redis is not installed: getting redis-tools or valkey-tools with apt-get into ${join(dir, 'own')} (installs nothing)`,
    ])
    expect(await commands()).toEqual([
      'apt-get -q install --download-only --reinstall -y --no-install-recommends redis-tools',
    ])
    expect(await obtain({ mayInstall: false }).got).toBe(own)
    const [script, tree, ...others] = (await readdir(join(dir, 'own'))).toSorted()
    expect([script, others]).toEqual(['redis-server', []])
    expect(await readFile(own, 'utf8')).toContain(`LD_LIBRARY_PATH='${join(dir, 'own', tree ?? '', 'usr/lib/any')}'`)
  })

  it('comes with lists of packages of its own where the system has none', async () => {
    const fails = `{ echo 'E: Unable to locate package' >&2; exit 100; }`
    await debian({ apt: `case "$*" in *Dir::State=*) ;; *) ${fails};; esac; ${downloads}` })
    await obtain().got
    expect((await commands()).map((call) => call.split(' ').at(-1))).toEqual([
      'redis-tools',
      'valkey-tools',
      'update',
      'redis-tools',
    ])
  })

  it('is asked of dnf as valkey, then as redis', async () => {
    await program('dnf', `case "$*" in *redis) ${installs('redis-server')};; *) exit 1;; esac`)
    expect(await obtain().got).toBe(join(dir, 'bin', 'redis-server'))
    expect((await calls()).map((call) => call.split(' ').at(-1))).toEqual(['valkey', 'redis'])
  })

  it('comes from brew for a user, never for root', async () => {
    await program('brew', installs('redis-server'))
    expect(await obtain({ isRoot: true }).got).toContain('brew refuses root')
    expect(await obtain({ isRoot: false }).got).toBe(join(dir, 'bin', 'redis-server'))
  })

  it('is installed through sudo only where sudo asks for no password', async () => {
    await program('dnf', installs('valkey-server'))
    await program('sudo', 'echo "sudo: a password is required" >&2; exit 1')
    expect(await obtain({ isRoot: false }).got).toMatch(/dnf needs a password.*"sudo dnf install/)
    expect(await calls()).toEqual(['sudo -n true'])
    await program('sudo', 'shift; exec "$@"')
    expect(await obtain({ isRoot: false }).got).toBe(join(dir, 'bin', 'valkey-server'))
    expect((await calls()).map((call) => call.split(' ')[0])).toEqual(['sudo', 'sudo', 'sudo', 'dnf'])
  })

  it('is missing in one line that says why and what to choose from on this system', async () => {
    await program('dnf', 'echo progress; echo "Error: no network" >&2; exit 1')
    expect(await obtain().got).toBe(
      'Redis is not installed (dnf did not get it: Error: no network): ' +
        'choose "dnf install valkey", or "export REMORA_API_URL=http://HOST:8420" to use a service that runs elsewhere',
    )
    expect(await readdir(join(dir, 'own'))).toEqual(['package-manager.log'])
  })

  it('is not got when it may not be', async () => {
    await debian()
    const { got, said } = obtain({ mayInstall: false })
    expect(await got).toMatch(/^Redis is not installed: choose "apt-get install redis-server"/)
    expect([said, await calls()]).toEqual([[], ['']])
  })

  it('is never one of a folder that others can write', async () => {
    await mkdir(join(dir, 'own'))
    await chmod(join(dir, 'own'), 0o777)
    await program('redis-server', 'echo "Redis server v=7.9.1 sha=0"')
    await rename(join(dir, 'bin', 'redis-server'), join(dir, 'own', 'redis-server'))
    await debian()
    expect(await obtain().got).toContain(`${join(dir, 'own')} must be a folder of this user`)
    expect(await obtain({ mayInstall: false }).got).toContain('Redis is not installed')
    expect(await calls()).toEqual([''])
  })

  it('comes to each of many commands that begin at once', async () => {
    await debian()
    const own = join(dir, 'own', 'redis-server')
    const all = await Promise.all(Array.from({ length: 20 }, () => obtain().got))
    expect(new Set(all)).toEqual(new Set([own]))
    const left = (await readdir(join(dir, 'own'))).filter((entry) => !entry.startsWith('unpacked-'))
    expect(left).toEqual(['redis-server'])
    expect(await obtain({ mayInstall: false }).got).toBe(own)
  })

  it('is not got for a user without a home, and that is said', async () => {
    await debian()
    expect(await obtain({ programDir: undefined }).got).toMatch(
      /^Redis is not installed \(this user has no home folder to keep a program in\): choose/,
    )
    expect(await calls()).toEqual([''])
  })

  it('is got anew when what was got before is gone or does not start any more', async () => {
    await debian()
    await obtain().got
    const [tree = ''] = (await readdir(join(dir, 'own'))).filter((entry) => entry.startsWith('unpacked-'))
    await rm(join(dir, 'own', tree, 'usr'), { recursive: true })
    await obtain().got
    expect(await commands()).toHaveLength(2)
  })

  it('leaves nothing of a download that was stopped, and takes away what a killed one has left', async () => {
    const stop = new AbortController()
    await debian({ apt: slowly })
    const stopped = obtain({ signal: stop.signal }).got
    await until(() => readdir(dir), { holds: (names) => names.includes('started') })
    stop.abort(new Error('interrupted'))
    await expect(stopped).rejects.toThrow('interrupted')
    expect(await readdir(join(dir, 'own'))).toEqual([])
    await mkdir(join(dir, 'own', 'unpacked-old'))
    await utimes(join(dir, 'own', 'unpacked-old'), 0, 0)
    await debian()
    await obtain().got
    const left = await readdir(join(dir, 'own'))
    expect([left.length, left.includes('unpacked-old')]).toEqual([2, false])
  })

  it('is given up at once when the command is stopped, and the package manager goes on unharmed', async () => {
    const stop = new AbortController()
    await program('dnf', slowly)
    const { got, said } = obtain({ signal: stop.signal })
    await until(() => readdir(dir), { holds: (names) => names.includes('started') })
    stop.abort(new Error('interrupted'))
    await expect(got).rejects.toThrow('interrupted')
    expect(said.at(-1)).toBe('dnf is not stopped halfway: it continues in the background')
    await writeFile(join(dir, 'go'), '')
    await until(() => readdir(dir), { holds: (names) => names.includes('done') })
  })

  it('is not looked for elsewhere while a package manager that takes too long goes on', async () => {
    await program('dnf', slowly)
    const { got, said } = obtain({ installLimitMs: 50 })
    await expect(got).rejects.toMatchObject({ code: 'CONFIG_006' })
    await expect(got).rejects.toThrow(
      /^dnf takes longer than 0\.05 s and continues in the background: wait until it has ended/,
    )
    expect(said).toHaveLength(1)
    await until(() => readdir(dir), { holds: (names) => names.includes('started') })
    await writeFile(join(dir, 'go'), '')
    await until(() => readdir(dir), { holds: (names) => names.includes('done') })
    expect(await calls()).toHaveLength(1)
  })
})

describe('a bubblewrap for programs of a repository', () => {
  it('is that on the PATH, unless it is too old', async () => {
    await program('bwrap', 'echo "bubblewrap 0.8.0"')
    expect(await obtain({}, bubblewrap).got).toBe(join(dir, 'bin', 'bwrap'))
    await program('bwrap', 'echo "bubblewrap 0.4.1"')
    expect(await obtain({ mayInstall: false }, bubblewrap).got).toBe(
      `bubblewrap 0.4.1 at ${join(dir, 'bin', 'bwrap')} is too old, 0.8 is needed: install bubblewrap`,
    )
  })

  it('comes from a package of Debian that is unpacked where every user can start it', async () => {
    await program('apt-get', downloads)
    const file = '"$3/usr/bin/bwrap"'
    const script = `printf '#!/bin/sh\\necho "bubblewrap 0.9.0"\\n' > ${file}`
    await program('dpkg-deb', `/bin/mkdir -p "$3/usr/bin"; ${script}; /bin/chmod 755 ${file}`)
    const own = join(dir, 'own', 'bwrap')
    expect(await obtain({}, bubblewrap).got).toBe(own)
    const tree = /'(.*)\/bwrap'/.exec(await readFile(own, 'utf8'))?.[1] ?? ''
    const modes = await Promise.all([join(dir, 'own'), tree, own].map(async (path) => (await stat(path)).mode & 0o005))
    expect(modes).toEqual([0o005, 0o005, 0o005])
  })

  it('is named with the command that gets it where it cannot be had', async () => {
    await program('apt-get', 'exit 1')
    expect(await obtain({ isRoot: false }, bubblewrap).got).toContain('sudo apt-get install bubblewrap')
  })
})
