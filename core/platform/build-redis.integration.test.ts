import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { until } from '#testing/until.ts'
import { buildRedis, type BuildOptions } from './build-redis.ts'

/** What the compiler makes of the archive's source. */
const server = `printf '#!/bin/sh\\necho "Redis server v=7.9.1 sha=0"\\n'`
const builds = `${server} > src/redis-server; chmod 755 src/redis-server`

const entryOf = (name: string) => ({ header: { name: `redis-7.9.1/${name}`, size: 3 }, body: 'all' })

let dir = ''
let own = ''
let archive = Buffer.alloc(0)
let requests = 0
let source: Server
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-build-'))
  own = join(dir, 'own')
  await Promise.all([mkdir(own), mkdir(join(dir, 'bin'))])
  archive = gzipSync(await packTar(['Makefile', 'src/server.c'].map(entryOf)))
  requests = 0
  source = createServer((request, response) => {
    requests += 1
    response.writeHead(request.url?.includes('missing') ? 404 : 200, { 'content-length': archive.length }).end(archive)
  }).listen(0, '127.0.0.1')
  await once(source, 'listening')
})
afterEach(async () => {
  await closeServer(source)
  await rm(dir, { recursive: true })
})

/** The `make` of the PATH these tests have; it is called as `make -C FOLDER …`. */
const make = (body: string) => writeFile(join(dir, 'bin', 'make'), `#!/bin/sh\ncd "$2"\n${body}\n`, { mode: 0o755 })

function build(options: Partial<BuildOptions> = {}) {
  const release = {
    version: '7.9.1',
    sha256: createHash('sha256').update(archive).digest('hex'),
    url: `http://127.0.0.1:${boundPort(source)}/redis-7.9.1.tar.gz`,
  }
  const env = { PATH: [join(dir, 'bin'), '/usr/bin', '/bin'].join(delimiter), REMORA_TOKEN: 'token-of-mine' }
  return buildRedis(own, { env, signal: new AbortController().signal, release, ...options })
}

describe('a Redis that is built', () => {
  it('is put into its place, and nothing else is left', async () => {
    await make(builds)
    expect(await build()).toEqual({ program: join(own, 'redis-server') })
    expect(await readdir(own)).toEqual(['redis-server'])
    expect(await readFile(join(own, 'redis-server'), 'utf8')).toContain('v=7.9.1')
  })

  it('is not what has another digest: nothing of it is started', async () => {
    await make(`: > ${dir}/started; ${builds}`)
    const sha256 = createHash('sha256').update('another').digest('hex')
    const url = `http://127.0.0.1:${boundPort(source)}/redis-7.9.1.tar.gz`
    const refused = await build({ release: { version: '7.9.1', sha256, url } })
    expect(refused).toEqual({ refusal: expect.stringContaining('is not Redis 7.9.1: its SHA-256 is') })
    expect([await readdir(own), await readdir(dir)]).toEqual([[], expect.not.arrayContaining(['started'])])
  })

  it('gives the compiler none of our secrets', async () => {
    await make(`env > ${dir}/env; ${builds}`)
    await build()
    const env = await readFile(join(dir, 'env'), 'utf8')
    expect(env).toContain('PATH=')
    expect(env).not.toContain('token-of-mine')
  })

  it('is refused in one line when the download or the compiler fails', async () => {
    await make('echo one >&2; echo "no stdio.h" >&2; exit 2')
    expect(await build()).toEqual({ refusal: expect.stringMatching(/^the build failed: .*no stdio\.h/) })
    const url = `http://127.0.0.1:${boundPort(source)}/missing.tar.gz`
    const refused = await build({ release: { version: '7.9.1', sha256: '', url } })
    expect(refused).toEqual({ refusal: `the download failed: ${url} answered 404` })
    expect(await readdir(own)).toEqual([])
  })

  it('takes the place of one that was left half written, and is not kept when it does not work itself', async () => {
    await writeFile(join(own, 'redis-server'), 'a stump', { mode: 0o755 })
    await make(': > src/redis-server; chmod 755 src/redis-server')
    expect(await build()).toEqual({ refusal: 'what was built is no Redis server' })
    expect(await readFile(join(own, 'redis-server'), 'utf8')).toBe('a stump')
    await make(builds)
    expect(await build()).toEqual({ program: join(own, 'redis-server') })
    expect(await readFile(join(own, 'redis-server'), 'utf8')).toContain('v=7.9.1')
  })

  it('is built by each of two commands at once in a folder of its own', async () => {
    await make(`pwd >> ${dir}/folders; until test $(wc -l < ${dir}/folders) = 2; do sleep 0.05; done; ${builds}`)
    const program = join(own, 'redis-server')
    expect(await Promise.all([build(), build()])).toEqual([{ program }, { program }])
    const folders = (await readFile(join(dir, 'folders'), 'utf8')).trimEnd().split('\n')
    expect([new Set(folders).size, requests, await readdir(own)]).toEqual([2, 2, ['redis-server']])
  })

  it('leaves nothing, no compiler either, when the command is stopped', async () => {
    await make(`echo $$ > ${dir}/started; sleep 600`)
    const stop = new AbortController()
    const stopped = build({ signal: stop.signal })
    await until(() => readFile(join(dir, 'started'), 'utf8').catch(() => ''), { holds: (text) => text.endsWith('\n') })
    stop.abort(new Error('interrupted'))
    await expect(stopped).rejects.toThrow('interrupted')
    const compiler = Number(await readFile(join(dir, 'started'), 'utf8'))
    await until(async () => !isRunning(compiler))
    expect(await readdir(own)).toEqual([])
  })

  it('takes away what builds left that were killed long ago, and nothing of those under way', async () => {
    await make(builds)
    await Promise.all([mkdir(join(own, 'build-now')), mkdir(join(own, 'build-old'))])
    await utimes(join(own, 'build-old'), 0, 0)
    await build()
    expect((await readdir(own)).toSorted()).toEqual(['build-now', 'redis-server'])
  })
})

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
