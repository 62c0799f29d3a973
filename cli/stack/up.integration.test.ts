import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { until } from '#testing/until.ts'
import { remoraHere } from '../../tests/remora-here.ts'

const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
const remora = fileURLToPath(new URL('../remora.mjs', import.meta.url))
const Ready = z.strictObject({
  url: z.url(),
  token: z.string().min(16),
  processes: z.array(z.strictObject({ service: z.string(), pid: z.int().positive(), metrics_url: z.url().optional() })),
  earlier_runs: z.array(z.string()),
  waiting_runs: z.array(z.string()),
})

let dir = ''
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-up-'))
})
afterAll(async () => {
  await rm(dir, { recursive: true, force: true, maxRetries: 5 })
})

type Up = ReturnType<typeof watchUp>

function startUp(args: readonly string[] = [], secrets: Readonly<Record<string, string>> = {}): Up {
  const env = { ...process.env, ...secrets }
  return watchUp(spawn(process.execPath, [remora, 'up', '--port', '0', '--json', ...args], { cwd: dir, stdio, env }))
}

/** As npx starts it: behind a shell, and with npm's word for it. */
function startUpByNpx(): Up {
  const env = { ...process.env, npm_command: 'exec' }
  const args = ['-c', '"$0" "$@"; true', process.execPath, remora, 'up', '--port', '0', '--json']
  return watchUp(spawn('sh', args, { cwd: dir, stdio, env }))
}

function watchUp(child: ChildProcessByStdio<null, Readable, Readable>) {
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
  const exited = once(child, 'close').then(([code]: unknown[]) => code)
  const ready = once(createInterface(child.stdout), 'line').then(([line]) => Ready.parse(JSON.parse(String(line))))
  return { child, exited, ready, errors: () => errors }
}

/** Another command in the same folder; in this process, where it costs a second less. */
const inFolder = (...args: readonly string[]) => inFolderWith({}, ...args)

const inFolderWith = async (env: Readonly<Record<string, string>>, ...args: readonly string[]) =>
  remoraHere({ path: dir }, args, env)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Parent by process id, as /proc says. */
async function parents(): Promise<Map<number, number>> {
  const found = new Map<number, number>()
  for (const entry of await readdir('/proc')) {
    const stat = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => undefined)
    if (!/^\d+$/.test(entry) || stat === undefined) continue
    found.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]))
  }
  return found
}

/** The variables that a process was started with. */
async function environmentOf(pid: number): Promise<Map<string, string>> {
  const text = await readFile(`/proc/${pid}/environ`, 'utf8')
  const entries = text.split('\0').filter((entry) => entry !== '')
  return new Map(entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]))
}

async function childrenOf(pid: number): Promise<number[]> {
  return [...(await parents())].filter(([, parent]) => parent === pid).map(([child]) => child)
}

async function descendants(pid: number): Promise<number[]> {
  const children = await childrenOf(pid)
  return [...children, ...(await Promise.all(children.map(descendants))).flat()]
}

/** Secrets that an operator may have in the environment of `up`. Of these a worker gets the key of the model, and a store none. */
const secrets = {
  REMORA_GITHUB_PRIVATE_KEY: 'key-of-the-app',
  REMORA_GITHUB_WEBHOOK_SECRET: 'secret-of-the-webhooks',
  REMORA_MODEL_API_KEY: 'key-of-the-model',
  AWS_SESSION_TOKEN: 'token-of-a-cloud',
  OPENAI_API_KEY: 'key-of-another-program',
  GH_TOKEN: 'token-of-a-host',
}

/** One `up` after the other in one folder, since each costs seconds: a test goes on with what the one before it has left. */
describe('remora up', () => {
  let up: Up
  let ready: z.infer<typeof Ready>
  let started: number[] = []
  const pidOf = (service: string) => ready.processes.find((one) => one.service === service)?.pid ?? 0
  const begin = async (next: Up) => {
    up = next
    ready = await up.ready
    started = await descendants(up.child.pid ?? 0)
    expect(started.length).toBeGreaterThan(2)
  }
  const leavesNothing = () => until(() => started.filter(isAlive), { holds: ({ length }) => length === 0 })
  afterAll(() => void up?.child.kill('SIGKILL'))

  it('serves who has its token', async () => {
    await begin(startUp(['--workers', '2'], secrets))
    const { url, token, processes } = ready
    expect(processes.map(({ service }) => service)).toEqual([
      'redis',
      'api',
      'discovery',
      'conductor',
      'setup',
      'watcher',
      'worker',
      'worker',
    ])
    expect((await fetch(`${url}/readyz`)).status).toBe(200)
    expect((await fetch(`${url}/v1/runs`)).status).toBe(401)
    expect((await fetch(`${url}/v1/runs`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
  })

  it('hands no secret to a process that it starts', async () => {
    const workers = ready.processes.filter(({ service }) => service === 'worker').map(({ pid }) => pid)
    for (const pid of started) {
      const given = await environmentOf(pid)
      const mayHave = workers.includes(pid) ? ['REMORA_MODEL_API_KEY'] : []
      expect(Object.keys(secrets).filter((name) => given.has(name))).toEqual(mayHave)
      expect([...given.values()].some((value) => value.includes(ready.token))).toBe(false)
    }
    const ofRedis = await environmentOf(pidOf('redis'))
    expect(
      [...ofRedis.keys()].filter((name) => !/^(?:PATH|LD_LIBRARY_PATH|TMPDIR|TZ|LANG|LANGUAGE|LC_\w+)$/.test(name)),
    ).toEqual([])
  })

  it('says where the metrics of each service and of each worker are', async () => {
    const served = ready.processes.filter(({ service }) => service !== 'redis')
    expect(new Set(served.map(({ metrics_url: url }) => url)).size).toBe(7)
    const texts = await Promise.all(served.map(async ({ metrics_url: url = '' }) => (await fetch(url)).text()))
    for (const text of texts) expect(text).toContain('process_cpu_seconds_total')
    const discovery = served.findIndex(({ service }) => service === 'discovery')
    expect(texts[discovery]).toContain('remora_window ')
  })

  it('is found by the other commands in its folder', async () => {
    const { url, token } = ready
    await writeFile(join(dir, 'a.py'), 'def price():\n    return f"price"\n')
    const submitted = await inFolder('submit', '.', '--agents', 'lint')
    expect(submitted).toMatchObject({ code: 0, err: expect.not.stringContaining('remora:') })
    const runId = submitted.out.trim()
    const watched = await inFolder('watch', runId)
    expect(watched).toMatchObject({
      code: 0,
      out: expect.stringContaining(`{"result":{"run_id":"${runId}","status":"completed"`),
    })
    await until(() => inFolder('show', runId), { holds: ({ out }) => out.includes('completed') })
    expect((await inFolder('show', runId)).out).toMatch(/\nstatus +completed\n[^]*\n\S+ {2}succeeded +lint {2}a\.py/)
    expect((await inFolder('runs')).out).toContain(runId)
    expect((await inFolder('diff', runId)).out).toContain('+    return "price"')
    expect(await inFolder('verify', runId)).toMatchObject({ code: 0, out: expect.stringContaining('no violation') })

    const access = { REMORA_API_URL: url, REMORA_TOKEN: token }
    expect(await inFolderWith(access, 'verify', runId)).toMatchObject({ code: 0, err: '' })

    const other = await inFolder('up', '--port', '0')
    expect(other).toMatchObject({
      code: 1,
      err: expect.stringMatching(/already runs the services in .*"remora submit"/),
    })
  })

  it('does the runs that `remora run` begins in its folder, which starts nothing of its own', async () => {
    const run = await inFolder('run', '.', '--agents', 'lint', '--model', 'rehearsal', '--out', 'run.patch')
    expect(run).toMatchObject({ code: 0, out: expect.stringContaining('run.patch') })
    expect(run.err).toContain('--model has no effect: the services that already run here have their own models\n')
    expect(run.err).not.toContain('model: ') // said of a stack of its own
    expect(await readFile(join(dir, 'run.patch'), 'utf8')).toContain('+    return "price"')
  })

  it('takes everything with it when it is killed outright', async () => {
    started = await descendants(up.child.pid ?? 0)
    up.child.kill('SIGKILL')
    await up.exited
    expect(await leavesNothing()).toEqual([])
  })

  it('goes on with the data of one that was killed, and leaves nothing behind when it is asked to stop', async () => {
    await begin(startUp())
    expect((await fetch(`${ready.url}/readyz`)).status).toBe(200)
    expect((await inFolder('runs')).out).toContain('completed')
    up.child.kill('SIGTERM')
    expect(await up.exited).toBe(0)
    expect(await leavesNothing()).toEqual([])
    expect(await readdir(join(dir, '.remora'))).not.toContain('stack.lock')
    expect(await readdir(join(dir, '.remora'))).not.toContain('stack-access.json')
    expect((await inFolder('submit', '.', '--agents', 'lint')).err).toMatch(
      /CONFIG_001 no services run in \.remora: .*up/,
    )
  })

  it('ends when npx, which hands on no signal of its own, is ended', async () => {
    await begin(startUpByNpx())
    up.child.kill('SIGKILL')
    expect(await leavesNothing()).toEqual([])
  })

  it('says that no model server answers, which runs would wait for', async () => {
    const nobody = 'http://127.0.0.1:9/v1'
    await begin(startUp(['--workers', '1', '--model', nobody]))
    const words = `CONFIG_005 no model server answers at ${nobody}: runs wait until it does`
    expect(await until(() => up.errors(), { holds: (text) => text.includes('CONFIG_005') })).toContain(words)
  })

  it('ends with what is wrong when its Redis dies', async () => {
    process.kill(pidOf('redis'), 'SIGKILL')
    expect(await up.exited).toBe(1)
    expect(up.errors()).toContain('STORE_001 the embedded')
    expect(up.errors()).toContain('the runs are kept: "remora up" continues them\n')
    expect(await leavesNothing()).toEqual([])
  })

  it('says in one line that its port is taken', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await once(other, 'listening')
    const port = boundPort(other)
    const { code, err } = await inFolder('up', '--port', String(port), '--workers', '1')
    await closeServer(other)
    expect({ code, err }).toEqual({
      code: 1,
      err: `remora: CONFIG_006 port ${port} is taken: use --port or REMORA_API_PORT for another one\n`,
    })
  })
})
