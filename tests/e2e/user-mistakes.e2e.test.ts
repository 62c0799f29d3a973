import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { lacks } from '#testing/this-machine.ts'
import { type Answer, remoraHere } from '../remora-here.ts'
import { openPrograms, remora } from '../program.ts'
import { smallSource, sourceFolder, type SourceFolder } from '../source-folder.ts'

const gitless = lacks('git')
const programs = openPrograms()
let folder: SourceFolder
/** Answers with HTML, as the API never does. */
let page: Server
beforeAll(async () => {
  folder = await sourceFolder(smallSource)
  await mkdir(join(folder.path, 'empty'))
  await writeFile(join(folder.path, 'notes.txt'), 'no archive\n')
  await writeFile(
    join(folder.path, 'contradiction.yaml'),
    'model:\n  pool: [{ url: "http://127.0.0.1:1/v1", models: [small, tiny] }]\n  default: big\n',
  )
  await mkdir(join(folder.path, '.remora/newer'), { recursive: true })
  await writeFile(join(folder.path, '.remora/newer/stack-version'), '9\n')
  await mkdir(join(folder.path, 'packs/python/default'), { recursive: true })
  await writeFile(join(folder.path, 'packs/python/default/mine.scm'), '; a note\n(no_such_node) @x.def\n')
  page = createServer((request, response) => {
    response.writeHead(request.url?.startsWith('/v1/runs') === true ? 200 : 404, { 'content-type': 'text/html' })
    response.end('<html>hello</html>')
  }).listen(0, '127.0.0.1')
  await once(page, 'listening')
})
afterAll(async () => {
  await programs.end()
  await closeServer(page)
  await folder.remove()
})

const Failure = z.object({ error: z.object({ error_code: z.string().nullable(), message: z.string().min(1) }) })
const lint = ['--agents', 'lint']
const operation = 'o0123456789abcdef'
type Mistake = { args: readonly string[]; env?: Readonly<Record<string, string>>; says: RegExp }

/** Wrong usage: exit code 2, before anything is done. */
const misuses: Mistake[] = [
  { args: [], says: /Usage: remora \[options\] \[command\]/ },
  { args: ['rnu'], says: /unknown command 'rnu'\n\(Did you mean run\?\)\nSee: remora --help/ },
  { args: ['help', 'watc'], says: /unknown command 'watc'\n\(Did you mean watch\?\)/ },
  { args: ['help', 'queries', 'chek'], says: /unknown command 'chek'\n\(Did you mean check\?\)/ },
  { args: ['queries', 'lst'], says: /Did you mean list\?\)\nSee: remora queries --help/ },
  {
    args: ['run'],
    says: /no agents named: choose with --agents from docstring, harness, lint, researcher, review, sample_data, terminal, test \(or say with --objective .*\)\nSee: remora run --help/,
  },
  {
    args: ['submit', '.'],
    says: /no agents named: choose with --agents from docstring, harness, lint, researcher, review/,
  },
  { args: ['run', '--agent', 'lint'], says: /unknown option '--agent'\n\(Did you mean --agents\?\)/ },
  { args: ['run', '--agents'], says: /argument missing/ },
  { args: ['run', '.', 'other', ...lint], says: /too many arguments for 'run'\. Expected 1 argument but got 2/ },
  { args: ['run', ...lint, '--limit', 'few'], says: /'few' is invalid\. It must be a whole number above 0/ },
  {
    args: ['run', ...lint, '--verify', ''],
    says: /'--verify <command>' argument '' is invalid\. It must be a command/,
  },
  { args: ['submit', '.', ...lint, '--setup', ' '], says: /'--setup <command>' argument ' ' is invalid/ },
  {
    args: ['run', ...lint, '--objective', 'tidy \u0007'],
    says: /argument 'tidy .*' is invalid\. It has the control character \\u0007/,
  },
  { args: ['run', ...lint, '--workers', '100'], says: /It must be at most 64/ },
  { args: ['run', ...lint, '--priority', '10'], says: /It must be a whole number, 0 to 9/ },
  { args: ['run', ...lint, '--model', 'localhost:8000'], says: /It must be "rehearsal" or the http\(s\) URL/ },
  { args: ['run', ...lint, '--error-policy', 'stop'], says: /Allowed choices are continue, skip_downstream, stop_run/ },
  { args: ['run', ...lint, '--accept', 'all'], says: /Allowed choices are / },
  { args: ['run', ...lint, '--workers', '0'], says: /It must be a whole number above 0/ },
  { args: ['retry', 'r1', operation, '--code', 'AGENT_002'], says: /^error: / },
  { args: ['retry', 'r1', operation, '--rejected'], says: /^error: / },
  { args: ['run', '--resume', 'r1', ...lint], says: /--agents cannot be used with --resume/ },
  ...[
    ['run', ...lint, '--model', 'http://127.0.0.1:1/v1'],
    ['run', ...lint, '--workers', '2'],
    ['retry', 'r1', '--model', 'rehearsal'],
  ].map((args) => ({
    args,
    env: { REMORA_API_URL: 'http://127.0.0.1:1' },
    says: /--(?:model|workers) cannot be used here: REMORA_API_URL names a running service/,
  })),
  { args: ['up', '--prot', '1'], says: /Did you mean --port\?/ },
  { args: ['up', '--port', '99999'], says: /It must be a port, 0 to 65535/ },
  { args: ['up', 'here'], says: /too many arguments for 'up'/ },
  { args: ['show'], says: /missing required argument 'run'\nSee: remora show --help/ },
  { args: ['diff'], says: /missing required argument 'run'/ },
  { args: ['accept', 'r1', '--where'], says: /argument missing/ },
  { args: ['apply'], says: /missing required argument 'run'\nSee: remora apply --help/ },
  { args: ['apply', 'r1', 'src'], says: /too many arguments for 'apply'/ },
  { args: ['apply', 'r1', '--of', 'all'], says: /Allowed choices are proposed, accepted/ },
  { args: ['runs', '--limit', '1000'], says: /It must be at most 100/ },
  { args: ['check', '--format', 'yaml'], says: /Allowed choices are text, json/ },
  { args: ['completion'], says: /missing required argument 'shell'/ },
  { args: ['completion', 'tcsh'], says: /Allowed choices are bash, zsh, fish/ },
  { args: ['discover', '--workers', 'all'], says: /It must be a whole number from 0 to 999/ },
]

/** Agents, paths, languages, kinds and revisions that do not exist. Each is wrong usage: exit code 2 and an error code. */
const missing: Mistake[] = [
  {
    args: ['run', '--agents', 'lnt'],
    says: /INTAKE_006 unknown agent: lnt \(did you mean lint\?\); known: docstring/,
  },
  { args: ['run', 'nowhere', ...lint], says: /INTAKE_001 there is no such file or folder: nowhere/ },
  { args: ['discover', 'nowhere'], says: /DISC_005 there is no such folder: nowhere/ },
  { args: ['discover', 'notes.txt'], says: /DISC_005 notes\.txt is no folder/ },
  ...[['run', ...lint], ['discover']].flatMap((args) => [
    { args: [...args, '--languages', 'rust,klingon'], says: /DISC_003 unknown language "klingon"; known: python, / },
    { args: [...args, '--kinds', 'klass'], says: /RUN_002 unknown node kind klass; known: .*class, .*function/ },
    ...(gitless ? [] : [{ args: [...args, '--since', 'nosuchrev'], says: /DISC_005 "nosuchrev" is neither a folder/ }]),
  ]),
  { args: ['apply', 'r1', '--to', 'nowhere'], says: /CONFIG_003 --to needs a folder, but nowhere is not there/ },
]

/** Commands that cannot work: exit code 1, one line with a code. */
const failures: Mistake[] = [
  {
    args: ['run', 'notes.txt', ...lint],
    says: /INTAKE_001 \S+notes\.txt is no archive that can be read: send a \.tar/,
  },
  { args: ['run', 'empty', ...lint], says: /INTAKE_007 \S+empty holds no file to send/ },
  { args: ['run', ...lint, '--out', 'no/such/x.patch'], says: /CONFIG_003 .*folder .*no\/such does not exist/ },
  { args: ['run', ...lint, '--out', '-'], says: /CONFIG_003 "-" is no file to write/ },
  { args: ['run', 'shop/stock.py', ...lint], says: /INTAKE_001 .*for one file, name its folder and --paths stock\.py/ },
  {
    args: ['run', ...lint],
    env: { REMORA_AGENTS_DIR: 'nowhere' },
    says: /CONFIG_001 REMORA_AGENTS_DIR: there is no folder \S*nowhere: make it, or mend the setting agents\.dir/,
  },
  { args: ['run', ...lint, '--out', 'empty'], says: /CONFIG_003 .*empty is a folder, not a file/ },
  { args: ['run', ...lint, '--events-to', 'no/such/x.jsonl'], says: /CONFIG_003 .*x\.jsonl cannot be written/ },
  { args: ['run', 'notes.txt', ...lint, '--apply'], says: /CONFIG_003 --apply needs a folder/ },
  { args: ['apply', 'r1', '--to', 'notes.txt'], says: /CONFIG_003 --to needs a folder, but notes\.txt is not one/ },
  { args: ['apply', 'nonsense'], says: /RUN_001 There is no run "nonsense": "remora runs" lists the runs/ },
  { args: ['submit', '.', ...lint], says: /CONFIG_001 no services run in \.remora: start them with "remora up"/ },
  { args: ['watch', 'r0mwqncxvrc26nihpb'], says: /CONFIG_001 no services run in \.remora: .*"remora up"/ },
  { args: ['watch', 'nonsense'], says: /RUN_001 There is no run "nonsense": "remora runs" lists the runs/ },
  { args: ['verify', 'nonsense'], says: /RUN_001 .*"remora runs" lists the runs/ },
  { args: ['retry', 'r1', 'nonsense'], says: /RUN_004 "nonsense" is no operation id; remora show r1 --operations/ },
  { args: ['show', 'r0mwqncxvrc26nihpb'], says: /RUN_001 There is no run .*"remora runs" lists the runs/ },
  { args: ['accept', 'r0mwqncxvrc26nihpb', '--all'], says: /RUN_001 There is no run .*"remora runs" lists the runs/ },
  { args: ['runs'], env: { REMORA_API_URL: 'localhost:8420' }, says: /REMORA_API_URL: must be the http\(s\) URL/ },
  {
    args: ['runs'],
    env: { REMORA_API_URL: 'http://127.0.0.1:1' },
    says: /CONFIG_006 .*does not answer: .*REMORA_API_URL/,
  },
  {
    args: ['runs'],
    env: { REMORA_TOKEN: 'two words' },
    says: /REMORA_TOKEN: must be a token as "remora up" prints it/,
  },
  { args: ['runs'], env: { REMORA_LOG_LEVEL: 'loud' }, says: /CONFIG_003 .*REMORA_LOG_LEVEL/ },
  ...[['config'], ['run', ...lint], ['up'], ['runs']].map((args) => ({
    args,
    env: { REMORA_WORKER_SLOTS: 'abc', REMORA_MAX_TURNS: 'many', REMORA_LOG_LEVEL: 'loud' },
    says: /CONFIG_003 (?=.*REMORA_WORKER_SLOTS: must be a number)(?=.*REMORA_MAX_TURNS: must be)(?=.*REMORA_LOG_LEVEL)/,
  })),
  ...[['run', ...lint], ['up']].map((args) => ({
    args,
    env: { REMORA_MODEL_URLS: 'http://127.0.0.1:1/v1', REMORA_MODEL_POOL: '[{"url":"http://127.0.0.1:2/v1"}]' },
    says: /CONFIG_003 .*REMORA_MODEL_POOL: http:\/\/127\.0\.0\.1:2\/v1 is not one of the servers in REMORA_MODEL_URLS/,
  })),
  {
    args: ['run', ...lint],
    env: { REMORA_CONFIG: 'contradiction.yaml' },
    says: /CONFIG_003 .*contradiction\.yaml:3: model\.default: no server of model\.pool has "big" among its models: small, tiny/,
  },
  ...[['run', ...lint], ['harness'], ['up']].map((args) => ({
    args,
    env: { REMORA_REHEARSAL_FAULTS: 'foo:0.5', REMORA_REHEARSAL_REFUSES: 'nonsense' },
    says: /CONFIG_003 .*REMORA_REHEARSAL_FAULTS: "foo" is no fault: known are latency, 403, 429, .*REMORA_REHEARSAL_REFUSES/,
  })),
  {
    args: ['runs'],
    env: { REMORA_MODEL_URLS: 'gpt' },
    says: /CONFIG_003 .*REMORA_MODEL_URLS: must be "rehearsal", or URLs .*must begin with http/,
  },
  {
    args: ['run', ...lint],
    env: { REMORA_DATA_DIR: '.remora/newer' },
    says: /CONFIG_006 .*are of version 9, .*use the Remora that wrote them/,
  },
  { args: ['run', ...lint], env: { REMORA_DATA_DIR: 'notes.txt' }, says: /CONFIG_003 .*notes\.txt .*REMORA_DATA_DIR/ },
  {
    args: ['run', ...lint],
    env: { REMORA_QUERIES_DIR: 'packs', PATH: '/nowhere' }, // reported before a Redis is looked for
    says: /^remora: DISC_002 \S+mine\.scm:2: /m,
  },
  { args: ['discover'], env: { REMORA_QUERIES_DIR: 'packs' }, says: /DISC_002 \S+mine\.scm:2: / },
  {
    args: ['discover'],
    env: { REMORA_QUERIES_DIR: 'nowhere' },
    says: /DISC_001 query folder \S+nowhere cannot be read/,
  },
  { args: ['discover'], env: { REMORA_QUERY_PACK: 'nobody' }, says: /DISC_001 no query pack is named "nobody"/ },
  { args: ['discover'], env: { REMORA_QUERY_PACK: '../up' }, says: /CONFIG_003 .*REMORA_QUERY_PACK: must be the name/ },
  { args: ['run', ...lint], env: { PATH: '/nowhere' }, says: /CONFIG_006 Redis is not installed .*choose "/ },
]

const make = async ({ args, env }: Omit<Mistake, 'says'>) => remoraHere(folder, args, env)

/** Standard error holds no stack trace, and few lines. */
function expectBrief({ err }: Answer): void {
  expect(err).not.toMatch(/^ {4}at /m)
  expect(err.trimEnd().split('\n').length).toBeLessThanOrEqual(3)
}

describe('wrong usage', () => {
  it.each(misuses)('is reported with what to do: remora $args', async (mistake) => {
    const answer = await make(mistake)
    expect(answer).toMatchObject({ code: 2, out: '' })
    expect(answer.err).toMatch(mistake.says)
    if (mistake.args.length > 0) expectBrief(answer)
  })

  it.each(missing)('is to name what is not there: remora $args', async (mistake) => {
    const answer = await make(mistake)
    expect(answer).toMatchObject({ code: 2, out: '' })
    expect(answer.err).toMatch(mistake.says)
    expectBrief(answer)
  })

  it.each([
    { args: ['runs', '--json'], code: 0, out: /^\{.*\}\n$/, err: /^$/ },
    { args: ['rnu'], code: 2, out: /^$/, err: /^error: unknown command 'rnu'/ },
    { args: ['show', 'r0mwqncxvrc26nihpb'], code: 1, out: /^$/, err: /^remora: RUN_001 / },
  ])('of the process: remora $args ends with $code', async ({ args, code, out, err }) => {
    const program = remora(programs, folder, args)
    expect(await program.exited, program.err()).toBe(code)
    expect(program.out()).toMatch(out)
    expect(program.err()).toMatch(err)
  })
})

describe('what cannot work', () => {
  it.each(failures)('is reported in one line: remora $args $env', async (mistake) => {
    const answer = await make(mistake)
    expect(answer).toMatchObject({ code: 1, out: '' })
    expect(answer.err).toMatch(mistake.says)
    expectBrief(answer)
  })

  it('reports a server that is not Remora, in every command that asks one', async () => {
    const env = { REMORA_API_URL: `http://127.0.0.1:${boundPort(page)}` }
    for (const args of [['runs'], ['show', 'r1'], ['submit', '.', ...lint], ['cancel', 'r1'], ['run', ...lint]]) {
      const answer = await make({ args, env })
      expect(answer.code).toBe(1)
      expect(answer.err).toMatch(/^remora: CONFIG_006 http.* does not answer as a Remora .*correct REMORA_API_URL/m)
      expectBrief(answer)
    }
  })
})

describe('--json', () => {
  it.each([
    [2, null, ['show', '--json']],
    [2, null, ['up', '--prot', '1', '--json']],
    [2, 'INTAKE_006', ['run', '--agents', 'lnt', '--json']],
    [2, 'DISC_005', ['discover', 'nowhere', '--json']],
    [1, 'CONFIG_003', ['run', '--agents', 'lint', '--out', '-', '--json']],
  ] as const)('makes a document of a mistake with exit code %i and code %s: %j', async (code, errorCode, args) => {
    const answer = await make({ args })
    expect(answer.code).toBe(code)
    expect(Failure.parse(JSON.parse(answer.out)).error.error_code).toBe(errorCode)
  })

  it.each([
    'agents',
    'doctor',
    'discover',
    'runs',
    `check ${join(import.meta.dirname, '../../agents')}`,
    'queries list',
  ])('makes one document of the answer of %s', async (command) => {
    const { code, out, err } = await make({ args: [...command.split(' '), '--json'] })
    expect(code, err).toBe(0)
    expect(out.trimEnd().split('\n')).toHaveLength(1)
    expect(JSON.parse(out)).toBeTypeOf('object')
  })
})
