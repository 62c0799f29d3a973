import { closeSync, createWriteStream, openSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { unpackTar } from 'modern-tar'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { boundPort } from '#platform/http-health.ts'
import { plainTar } from '#platform/gzipped-tar.ts'
import { testSandbox, usualLimits } from '#sandbox/sandbox.fixture.ts'
import { type PackageRegistry, startPackageRegistry } from '#testing/package-registry.ts'
import { until } from '#testing/until.ts'
import { type IsolatedSetup, runIsolated, type SetupEnd } from './run-isolated.ts'

const { lack, bubblewrap } = await testSandbox(process.env)
const never = new AbortController().signal

/** Processes of this machine whose command has `word`. */
async function processesWith(word: string): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
  return commands.filter((command) => command.includes(word))
}

describe.skipIf(lack !== undefined)(`a setup${lack === undefined ? '' : ` (${lack})`}`, { timeout: 240_000 }, () => {
  let registry: PackageRegistry
  /** Of this machine, on no list. */
  let other: Server
  let reached = 0
  let dir = ''
  beforeAll(async () => {
    registry = await startPackageRegistry()
    other = createServer((socket) => {
      reached += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
  })
  afterAll(async () => {
    other.close()
    await registry.close()
  })
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), 'remora-setup-test-'))
  })
  afterEach(() => rm(dir, { recursive: true }))

  type Ran = { end: SetupEnd; names: string[]; texts: Record<string, string> }

  async function setUp(
    command: string,
    more: Partial<IsolatedSetup> & { files?: Record<string, string>; signal?: AbortSignal; storeFault?: Error } = {},
  ): Promise<Ran> {
    const { files = { 'pyproject.toml': '' }, signal = never, storeFault, ...options } = more
    const items = Object.entries(files).map(([path, text]) => ({ path, content: Buffer.from(text), executable: false }))
    await pipeline(Readable.from(plainTar(items)), createWriteStream(join(dir, 'base.tar')))
    const base = openSync(join(dir, 'base.tar'), 'r')
    const setup = {
      command,
      hasPython: false,
      sandbox: { runtime: 'auto', searchPath: process.env['PATH'] ?? '', paths: [], ...(bubblewrap && { bubblewrap }) },
      limits: { ...usualLimits, wallMs: 200_000 },
      registries: [],
      internalRegistries: [registry.url],
      variables: registry.variables,
      maxDownloadBytes: 50 * 1024 ** 2,
      ...options,
    } satisfies Omit<IsolatedSetup, 'dir'>
    const chunks: Uint8Array[] = []
    const store = async (tar: AsyncIterable<Uint8Array>) => {
      for await (const chunk of tar) {
        if (storeFault !== undefined) throw storeFault
        chunks.push(chunk)
      }
    }
    const end = await runIsolated(setup, base, store, signal).finally(() => closeSync(base))
    const entries = end.kind === 'made' ? await unpackTar(Buffer.concat(chunks)) : []
    const texts = entries.map(({ header, data }) => [header.name, Buffer.from(data ?? []).toString()] as const)
    return { end, names: texts.map(([name]) => name), texts: Object.fromEntries(texts) }
  }
  const outputOf = ({ end }: Ran) => (end.kind === 'failed' ? end.output : '')

  it('installs from the registry, and gives back the environment and what is new in the working folder', async () => {
    const python = await setUp('pip install shout && mkdir made.egg-info && echo 1 > made.egg-info/PKG-INFO', {
      hasPython: true,
      files: { 'a.py': 'before' },
    })
    expect(python.end, outputOf(python)).toMatchObject({ kind: 'made', refused: [] })
    expect(python.names.some((name) => /^environment\/lib\/python3\.\d+\/site-packages\/shout\.py$/.test(name))).toBe(
      true,
    )
    expect(python.names.filter((name) => name.startsWith('workspace/'))).toEqual([
      'workspace/made.egg-info/',
      'workspace/made.egg-info/PKG-INFO',
    ])
    const node = await setUp('npm install loud', { files: { 'package.json': '{"name":"a","version":"1.0.0"}' } })
    expect(node.end, outputOf(node)).toMatchObject({ kind: 'made' })
    expect(node.names).toContain('workspace/node_modules/loud/index.js')
  })

  it('finds files whose times a wheel can hold', async () => {
    const ran = await setUp(`python3 -c 'import zipfile; zipfile.ZipFile("/tmp/a.whl", "w").write("pyproject.toml")'`)
    expect(ran.end, outputOf(ran)).toMatchObject({ kind: 'made' })
  })

  it('fails with what its command said, and nothing is kept', async () => {
    const ran = await setUp('echo no such luck; exit 7')
    expect(ran).toMatchObject({ end: { kind: 'failed', reason: 'exit code 7', output: 'no such luck\n' }, names: [] })
    const missing = await setUp('npm install no-such-package')
    expect(outputOf(missing)).toMatch(/404[^]*no-such-package/)
  })

  it('ends with the fault of the store that did not take its result', async () => {
    const storeFault = new AppError('INTAKE_003', 'too large')
    const ran = setUp('head -c 20000000 /dev/zero > /environment/big', { storeFault })
    await expect(ran).rejects.toBe(storeFault)
  })

  it('fails when it installs a copy of the repository', async () => {
    const url = '{"dir_info": {}, "url": "file:///workspace"}'
    const folder = '/environment/lib/python3.11/site-packages/mine-1.0.dist-info'
    const ran = await setUp(`mkdir -p ${folder} && echo '${url}' > ${folder}/direct_url.json`)
    expect(outputOf(ran)).toContain('install it editable (-e)')
  })

  it('gives back what it made, whatever it installed under the names of the programs that pack it', async () => {
    const planted = (name: string) => `printf '#!/bin/sh\\nexit 0\\n' > $1/${name}; chmod +x $1/${name}`
    const names = ['tar', 'comm', 'sort', 'find', 'grep', 'sh']
    const script = `set -- /environment/bin; mkdir $1; ${names.map(planted).join('; ')}; echo x > added`
    const ran = await setUp(script)
    expect(ran.end, outputOf(ran)).toMatchObject({ kind: 'made' })
    expect(ran.names).toEqual(
      expect.arrayContaining([...names.map((name) => `environment/bin/${name}`), 'workspace/added']),
    )
  })

  const fetching = (url: string) =>
    `node -e 'fetch("${url}").then((r) => console.log(r.status), (e) => console.log(e.cause.code))'; exit 1`
  const connecting = (host: string, port: number) =>
    `node -e 'require("node:net").connect(${port}, "${host}").on("connect", () => console.log("reached")).on("error", (e) => console.log(e.code))'; exit 1`
  const throughProxy = (places: readonly string[]) =>
    `node -e 'for (const path of ${JSON.stringify(places)}) require("node:http").request({ port: 3128, method: "CONNECT", path }).on("connect", (r) => console.log(path.slice(0, 20), r.statusCode, r.statusMessage)).on("error", (e) => console.log(path, e.code)).end()'; exit 1`

  it('reaches no network by itself', async () => {
    expect(outputOf(await setUp(connecting('1.1.1.1', 443)))).toContain('ENETUNREACH')
    expect(outputOf(await setUp(connecting('169.254.169.254', 80)))).toContain('ENETUNREACH')
    expect(outputOf(await setUp(connecting('127.0.0.1', boundPort(other))))).toContain('ECONNREFUSED')
    expect(outputOf(await setUp(fetching('http://pypi.org')))).toMatch(/EAI_AGAIN|ENOTFOUND/)
  })

  it('is connected by the proxy to nothing that is not on the list', async () => {
    const elsewhere = ['example.org:443', '169.254.169.254:80', '127.0.0.1:6379', 'localhost:80', '[::1]:80']
    const places = [...elsewhere, 'x'.repeat(300), '']
    const answers = outputOf(await setUp(throughProxy(places)))
      .trimEnd()
      .split('\n')
    expect(answers).toHaveLength(places.length)
    for (const answer of answers) expect(answer).toMatch(/ (?:40[03]|ECONNRESET|HPE_\w+)\b/)
  })

  it('is not connected to a name of the list that leads to this machine', async () => {
    const port = boundPort(other)
    const ran = await setUp(throughProxy([`localhost:${port}`]), { registries: [`localhost:${port}`] })
    expect(outputOf(ran)).toContain(`localhost:${port} 403 localhost has the address`)
    expect(ran.end).toMatchObject({ refused: [expect.stringContaining('of no public machine')] })
    expect(reached).toBe(0)
  })

  it('downloads no more than it may', async () => {
    const ran = await setUp('npm install loud', { maxDownloadBytes: 200 })
    expect(ran.end).toMatchObject({ kind: 'failed', reason: expect.stringContaining('setup.download_mb') })
  })

  it('sees no variable, file or process of this machine, and no private key', async () => {
    await writeFile(join(dir, 'secret'), 'host secret', { mode: 0o644 })
    const script = `env; cat /proc/[0-9]*/environ; ls -d /proc/[0-9]*; cat ${dir}/secret; ls /root /home /etc/ssl/private; exit 1`
    const output = outputOf(await setUp(script))
    expect(output).not.toMatch(/host secret|AWS_|REDIS|REMORA_|TOKEN/)
    expect(output.match(/^\/proc\/\d+$/gm)?.length).toBeLessThan(12)
  })

  it('writes nowhere but to its own folders', async () => {
    const places = ['/', '/usr', '/etc', '/remora', '/etc/ssl/certs', dir]
    const output = outputOf(
      await setUp(`${places.map((at) => `: > ${at}/x && echo "written ${at}"`).join('; ')}; exit 1`),
    )
    expect(output).not.toContain('written')
  })

  it.each([
    ['takes for ever', 'sleep 600', { wallMs: 2_000 }, 'time'],
    [
      'writes gigabytes',
      'head -c 80000000 /dev/zero > /environment/big',
      { diskBytes: 50_000_000 },
      'exit code|file size',
    ],
    [
      'takes memory',
      `node -e 'const a = []; for (;;) a.push(Buffer.alloc(1e7, 1))'`,
      { memoryBytes: 200_000_000 },
      'memory',
    ],
  ])('is stopped when it %s', async (_what, command, limits, reason) => {
    const { end } = await setUp(command, { limits: { ...usualLimits, ...limits } })
    expect(end).toMatchObject({ kind: 'failed', reason: expect.stringMatching(reason) })
  })

  it('leaves no process, socket or folder, whether it ends, is cancelled or is killed', async () => {
    const ours = async () => (await readdir(tmpdir())).filter((name) => /^remora-setup-(?!test)/.test(name))
    const before = await ours()
    const word = `left-${process.pid}`
    await setUp(`(setsid sh -c 'sleep 600; : ${word}' &)`)
    await until(() => processesWith(word), { holds: ({ length }) => length === 0 })
    const stop = new AbortController()
    const running = setUp(`: ${word}; sleep 600`, { signal: stop.signal })
    await until(() => processesWith(word), { holds: ({ length }) => length > 0 })
    stop.abort(new Error('enough'))
    await expect(running).rejects.toThrow('enough')
    await until(() => processesWith(word), { holds: ({ length }) => length === 0 })
    expect((await ours()).filter((name) => !before.includes(name))).toEqual([])
  })
})
