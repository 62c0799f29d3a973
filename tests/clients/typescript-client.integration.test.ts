import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { until } from '#testing/until.ts'
import { openTestApi, tarOf, type TestApi } from '../../services/api/app.fixture.ts'
import { serveApp, type ServedApp } from '../../services/api/http/serve-app.ts'
import { composeRun, playOperations, type PlayedEnding } from '../../services/api/played-run.fixture.ts'
import { repository } from '../program.ts'

const program = 'examples/typescript-client/submit-run.ts'

/** As strict as a client's own project may be. */
const compilerOptions = {
  target: 'es2024',
  lib: ['es2024', 'dom'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  noEmit: true,
  erasableSyntaxOnly: true,
  verbatimModuleSyntax: true,
  allowImportingTsExtensions: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
}

type Ended = { code: unknown; out: string; err: string }

let api: TestApi
let served: ServedApp
/** A client's project: the program, the types made of the served document, and the packages of this repository. */
let project: string

beforeAll(async () => {
  api = await openTestApi(await testRedis(), await testObjects())
  served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
  project = await mkdtemp(join(tmpdir(), 'remora-client-'))
  const document = await (await fetch(`${served.url}/openapi.json`)).text()
  const types = await run(`${repository}tests/clients/write-types-main.ts`, [], { input: document })
  if (types.code !== 0) throw new Error(`openapi-typescript: ${types.err}`)
  await writeFile(join(project, 'remora.d.ts'), types.out)
  await writeFile(join(project, 'submit-run.ts'), await readFile(join(repository, program)))
  await writeFile(join(project, 'package.json'), '{"type":"module"}')
  await writeFile(join(project, 'repository.tar'), await tarOf({ 'a.py': 'x = 1\n' }))
  await symlink(join(repository, 'node_modules'), join(project, 'node_modules'))
}, 120_000)
afterAll(async () => {
  await served.close()
  await api.close()
  await rm(project, { recursive: true, force: true })
})

async function run(
  file: string,
  args: readonly string[],
  { env = {}, input = '' }: { env?: Record<string, string>; input?: string } = {},
): Promise<Ended> {
  const { PATH = '' } = process.env
  const child = spawn(process.execPath, [file, ...args], { cwd: project, env: { PATH, ...env } })
  const closed = once(child, 'close')
  child.stdin.end(input)
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed])
  return { code, out, err }
}

const submit = (...agents: string[]) =>
  run('submit-run.ts', ['repository.tar', ...agents], {
    env: { REMORA_API_URL: served.url, REMORA_TOKEN: api.token },
  })

/** Mistakes that the types must refuse: text of the correct program, and its replacement. */
const mistakes = {
  'a field that the request does not have': ["error_policy: 'continue'", "error_polocy: 'continue'"],
  'a word that the request does not take': ["error_policy: 'continue'", "error_policy: 'carry_on'"],
  'a field that the answer does not have': ['page.next_after', 'page.next_event'],
  'a status that a run never has': ["'completed', 'failed'", "'done', 'failed'"],
  'an address that is not served': ["'/v1/runs/{run_id}/patch'", "'/v1/runs/{run_id}/diff'"],
  'an answer that may be null': ['outcome?.error_code', 'outcome.error_code'],
} as const
const fileOf = (mistake: string) => `${mistake.replaceAll(' ', '-')}.ts`

/** The project's TypeScript over the program as it is and with each of the mistakes. */
async function typeCheck(): Promise<Ended> {
  const good = await readFile(join(project, 'submit-run.ts'), 'utf8')
  for (const [mistake, [right, wrong]] of Object.entries(mistakes)) {
    expect(good).toContain(right)
    await writeFile(join(project, fileOf(mistake)), good.replace(right, wrong))
  }
  const files = ['submit-run.ts', ...Object.keys(mistakes).map(fileOf)]
  await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  return run(join(repository, 'node_modules/typescript/bin/tsc'), ['-p', 'tsconfig.json', '--pretty', 'false'])
}

describe('types that openapi-typescript makes of the API', () => {
  it('fit the program of the guide under strict settings, and refuse mistakes', { timeout: 120_000 }, async () => {
    const { out, err } = await typeCheck()
    const faulty = new Set([...out.matchAll(/^([\w-]+\.(?:d\.)?ts)\(\d+,\d+\): error /gm)].map(([, file = '']) => file))
    expect(faulty, `${out}${err}`).toEqual(new Set(Object.keys(mistakes).map(fileOf)))
  })
})

describe('the program of the guide', () => {
  it('submits an archive, follows its events, reads all pages of operations and writes the patch', async () => {
    const before = api.jobs.length
    const ended = submit('lint')
    const runId = await until(() => api.jobs[before])
    const names = ['one', 'two', 'three', 'four', 'five']
    const endings = names.map((name): PlayedEnding => {
      if (name === 'five') return { name, fails: { code: 'AGENT_004', reason: 'turn limit of 12' } }
      return { name, changes: [{ kind: 'create', path: `${name}.py`, content: 'x = 1\n' }] }
    })
    await playOperations(api, runId, endings)
    const resultHash = await api.blobs.put(api.project, Buffer.from('x = 1\n'))
    const file = { path: 'one.py', baseHash: null, resultHash, changeSetIds: ['c1'], evidence: [] }
    await composeRun(api, runId, { files: [file] })
    const { code, out, err } = await ended
    expect(err).toMatch(/^completed: \d+ events, 5 operations, 1 failed\na\.py five: AGENT_004 turn limit of 12\n$/)
    expect(code).toBe(0)
    expect(out).toContain('diff --git a/one.py b/one.py\nnew file mode 100644\n')
    const asked = await api.ask(`/v1/runs/${runId}`)
    expect(await asked.json()).toMatchObject({ request: { agents: ['lint'], labels: { client: 'submit-run' } } })
  })

  it('prints the problem that the service answered with', async () => {
    const { code, out, err } = await submit('no-such-agent')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toBe('INTAKE_006: unknown agent: no-such-agent; known: docstring, lint\n')
  })
})
