import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import { lacks } from '#testing/this-machine.ts'
import { until } from '#testing/until.ts'
import { tarOf } from '../../services/api/app.fixture.ts'
import { repository } from '../program.ts'
import { smallSource } from '../source-folder.ts'
import { useOneProcess } from '../use-services.ts'

/** As strict as a project of a client may be; `dom`, since pages import the client, too. */
const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'dom'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noEmit: true,
  verbatimModuleSyntax: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
}

/** Mistakes that the types must refuse: text of the guide's program, and its replacement. */
const mistakes = {
  'a field that the request does not have': ['{ agents:', '{ agent:'],
  'a category that no event has': ["'worker_output'", "'worker_outputs'"],
  'data that an event does not have': ['event.data.path', 'event.data.place'],
  'an event before it is known to be one': ["if (frame.type !== 'event') continue", ''],
  'a field that a run does not have': ['run.status', 'run.state'],
  'a run that may go on': ["awaited.kind === 'result' ? awaited.run.status : awaited.kind", 'awaited.run.status'],
} as const
const fileOf = (mistake: string) => `${mistake.replaceAll(' ', '-')}.ts`

const services = useOneProcess()
/** A project of somebody else: the package, and the programs of the guide. */
let project: string
let example: string

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), 'remora-client-'))
  const inProject = (...path: string[]) => join(project, ...path)
  await run(process.execPath, [`${repository}scripts/build-client.ts`, inProject('node_modules/remora/dist')])
  const { exports } = JSON.parse(await readFile(`${repository}package.json`, 'utf8'))
  const manifest = JSON.stringify({ name: 'remora', type: 'module', exports })
  await writeFile(inProject('node_modules/remora/package.json'), manifest)
  await symlink(`${repository}node_modules/@types`, inProject('node_modules/@types'))
  await symlink(`${repository}node_modules/undici-types`, inProject('node_modules/undici-types'))
  await writeFile(inProject('package.json'), '{"type":"module"}')
  await writeFile(inProject('repository.tar'), await tarOf(smallSource))
  const guide = await readFile(`${repository}docs/guide/clients.md`, 'utf8')
  const program = (language: string) => new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(guide)?.[1] ?? ''
  example = program('ts')
  await writeFile(inProject('example.ts'), example)
  await writeFile(inProject('example.py'), program('python'))
  await writeFile(inProject('consumer.js'), program('js'))
  await symlink(`${repository}node_modules/ioredis`, inProject('node_modules/ioredis'))
})
afterAll(() => rm(project, { recursive: true, force: true }))

async function run(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { PATH = '' } = process.env
  const child = spawn(command, args, { cwd: project, env: { PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { code, out, err }
}

const service = () => ({ REMORA_API_URL: services.named('api').origin, REMORA_TOKEN: services.token })

describe('the client of the package', () => {
  it('is small, and needs no other module and nothing of Node', async () => {
    const code = await readFile(join(project, 'node_modules/remora/dist/client.js'), 'utf8')
    expect(gzipSync(code).length).toBeLessThanOrEqual(15_000)
    expect(code).not.toMatch(/^import |\bimport\(|\brequire\(|node:|\bprocess\.|\bBuffer\./m)
  })

  it('has types that fit the program of the guide under strict settings, and refuse mistakes', async () => {
    for (const [mistake, [right, wrong]] of Object.entries(mistakes)) {
      expect(example).toContain(right)
      await writeFile(join(project, fileOf(mistake)), example.replace(right, wrong))
    }
    const files = ['example.ts', ...Object.keys(mistakes).map(fileOf)]
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
    const { out } = await run(process.execPath, [`${repository}node_modules/typescript/bin/tsc`, '--pretty', 'false'])
    const faulty = new Set([...out.matchAll(/^(\S+?)\(\d+,\d+\): error /gm)].map(([, file]) => file))
    expect(faulty, out).toEqual(new Set(Object.keys(mistakes).map(fileOf)))
  })
})

/** Serves a page with the client, and behind it the API: to a browser they are one site. Resolves `said` to what the page posts. */
async function servePage(page: string, files: Readonly<Record<string, Buffer>>) {
  const said = Promise.withResolvers<string>()
  const api = new URL(service().REMORA_API_URL)
  const server = createServer((asked, answer) => {
    const { method = 'GET', url: path = '/', headers } = asked
    if (path.startsWith('/v1/')) {
      const forwarded = request({ host: api.hostname, port: api.port, method, path, headers }, (given) => {
        answer.writeHead(given.statusCode ?? 502, given.headers)
        given.pipe(answer)
      })
      return void asked.pipe(forwarded)
    }
    if (method === 'POST') said.resolve(text(asked))
    const type = path.endsWith('.js') ? 'text/javascript' : 'text/html'
    answer.writeHead(200, { 'content-type': type }).end(path === '/' ? page : files[path])
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  onTestFinished(() => server.closeAllConnections())
  return { url: `http://127.0.0.1:${boundPort(server)}/`, said: said.promise }
}

const program = `
import { openRemora } from '/client.js'
const remora = openRemora({ url: location.origin, token: TOKEN })
async function follow() {
  const runId = await remora.start({ agents: ['docstring'] }, await (await fetch('/repository.tar')).blob())
  const frames = await Array.fromAsync(remora.stream(runId))
  return { types: [...new Set(frames.map(({ type }) => type))], awaited: await remora.await(runId) }
}
await fetch('/said', { method: 'POST', body: JSON.stringify(await follow().catch(String)) })
`

describe('the client elsewhere than in Node', () => {
  it.skipIf(lacks('bun'))('runs the program of the guide in Bun', async () => {
    const { code, out, err } = await run('bun', ['example.ts'], service())
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^\d+ \S+\.py succeeded\n[^]*completed\n$/m)
  })

  it.skipIf(lacks('chromium'))('starts a run in a page of a browser, follows it and takes its result', async () => {
    const read = (path: string) => readFile(join(project, path))
    const files = {
      '/client.js': await read('node_modules/remora/dist/client.js'),
      '/repository.tar': await read('repository.tar'),
    }
    const code = program.replace('TOKEN', JSON.stringify(services.token))
    const { url, said } = await servePage(`<!doctype html><script type="module">${code}</script>`, files)
    const flags = ['--headless', '--no-sandbox', '--disable-gpu', `--user-data-dir=${join(project, 'browser')}`]
    const browser = spawn('chromium', [...flags, url], { stdio: 'ignore' })
    const closed = once(browser, 'close')
    expect(JSON.parse(await said)).toMatchObject({
      types: ['connected', 'event', 'end'],
      awaited: { kind: 'result', run: { status: 'completed' } },
    })
    browser.kill()
    await closed
  })
})

describe('the programs of the guide', () => {
  it('in TypeScript: starts a run, streams what its agents bring and awaits its end', async () => {
    const { code, out, err } = await run(process.execPath, ['example.ts'], service())
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toMatch(/^\d+ \S+\.py succeeded$/m)
    expect(out).toMatch(/\ncompleted\n$/)
  })

  it.skipIf(lacks('python3'))('in Python: hands in an archive, follows the run and prints its patch', async () => {
    const { code, out, err } = await run('python3', ['example.py'], service())
    expect(code, err).toBe(0)
    expect(err).toMatch(/^\S+\.py succeeded$[^]*\ncompleted \{/m)
    expect(out).toMatch(/^diff --git /)
  })

  it('in JavaScript: reads the events of all runs as a group, and acknowledges them', async () => {
    const { redisUrl } = services.stores
    const redis = new Redis(redisUrl)
    await redis.xgroup('CREATE', 'remora:events', 'audit', '$', 'MKSTREAM')
    const env = { PATH: process.env['PATH'] ?? '', ...service(), REMORA_REDIS_URL: redisUrl }
    const consumer = spawn(process.execPath, ['consumer.js'], {
      cwd: project,
      env,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let out = ''
    consumer.stdout.setEncoding('utf8').on('data', (more: string) => void (out += more))
    expect(await run(process.execPath, ['example.ts'], service())).toMatchObject({ code: 0 })
    await until(() => / run\.completed$/m.test(out))
    await until(async () => (await redis.xpending('remora:events', 'audit'))[0] === 0)
    consumer.kill()
    const [, runId = ''] = /^(\S+) \d+ run\.completed$/m.exec(out) ?? []
    const seqs = [...out.matchAll(new RegExp(`^${runId} (\\d+) `, 'gm'))].map(([, seq]) => Number(seq))
    expect(seqs).toEqual(seqs.map((_, at) => at + 1))
    await redis.quit()
  })

  it.skipIf(lacks('python3'))('print the code of a problem', async () => {
    const stranger = { ...service(), REMORA_TOKEN: 'of-nobody' }
    const [python, typescript] = [
      await run('python3', ['example.py'], stranger),
      await run(process.execPath, ['example.ts'], stranger),
    ]
    expect(python).toMatchObject({ code: 1, err: expect.stringMatching(/^AUTH_001: /) })
    expect(typescript).toMatchObject({ code: 1, err: expect.stringMatching(/code: 'AUTH_001'/) })
  })
})
