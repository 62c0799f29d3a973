import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CommanderError } from 'commander'
import { describe, expect, it } from 'vitest'
import { AppError } from '#domain/error.ts'
import { readCliConfig } from './cli-config.ts'
import { describeFailure } from './describe-failure.ts'
import { buildProgram } from './program.ts'

/** Runs the command line in an empty environment; nothing here gets as far as starting a service. */
async function remora(...args: string[]) {
  const printed = { out: '', err: '' }
  const io = {
    out: (text: string) => (printed.out += text),
    err: (text: string) => (printed.err += text),
    exit: () => {},
  }
  const signal = new AbortController().signal
  const context = { io, config: readCliConfig({}), signal, terminal: undefined, colored: false, cwd: '/nowhere' }
  const error: unknown = await buildProgram(context)
    .parseAsync(args, { from: 'user' })
    .then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
  const code = error instanceof CommanderError || error instanceof AppError ? error.code : error
  return { ...printed, code, failure: describeFailure(error).text }
}

describe('the command line', () => {
  it('says of an unknown run where the known ones are listed', async () => {
    const { failure } = await remora('verify', 'nonsense')
    expect(failure).toBe('remora: RUN_001 There is no run "nonsense": "remora runs" lists the runs\n')
  })

  it('has the version of the package', async () => {
    expect(await remora('--version')).toMatchObject({ out: '0.1.0\n', code: 'commander.version' })
  })

  it('asks for agents, and names those there are', async () => {
    const { err, code } = await remora('run')
    expect(code).toBe('commander.error')
    expect(err).toMatch(/no agents named: choose with --agents from .*docstring, harness, lint, review/)
  })

  it('refuses an unknown agent before anything is started', async () => {
    expect((await remora('run', '--agents', 'lint,nope')).code).toBe('INTAKE_006')
  })

  it('refuses to retry what is no operation id before anything is started, and says once where the ids are', async () => {
    const { failure } = await remora('retry', 'r1', 'oxxx')
    expect(failure).toBe('remora: RUN_004 "oxxx" is no operation id; remora show r1 --operations lists them\n')
  })

  it.each([
    ['retry', 'r1', '--error-policy', 'never'],
    ['retry', 'r1', 'o0123456789abcdef', '--code', 'AGENT_002'],
    ['retry', 'r1', 'o0123456789abcdef', '--rejected'],
    ['run', '--agents', 'lint', '--workers', '0'],
    ['run', '--agents', 'lint', '--workers', '65'],
    ['run', '--agents', 'lint', '--limit', 'many'],
    ['run', '--agents', 'lint', '--model', 'localhost:8000'],
    ['run', '--agents', 'lint', '--accept', 'all'],
    ['up', '--port', '70000'],
    ['up', '--frobnicate'],
    ['show'],
    ['bogus'],
  ])('refuses wrong usage with a hint: %s %s %s %s', async (...args) => {
    const { err, code } = await remora(...args)
    expect(code).toMatch(/^commander\./)
    expect(err).toMatch(/^error: .*\n/)
    expect(err).toMatch(/\nSee: remora .*--help\n$/)
  })

  it('names the agents there are when submit names none', async () => {
    const { err, code } = await remora('submit')
    expect(code).toBe('commander.error')
    expect(err).toMatch(/no agents named: choose with --agents from .*docstring, harness, lint, review/)
  })

  it('wants a running service for submit', async () => {
    expect((await remora('submit', '.', '--agents', 'lint')).code).toBe('CONFIG_001')
  })

  it('refuses a path that is not there before anything is started', async () => {
    const out = join(tmpdir(), 'remora-test.patch')
    const { failure } = await remora('run', '/nowhere/at/all', '--agents', 'lint', '--out', out)
    expect(failure).toBe('remora: INTAKE_001 there is no such file or folder: /nowhere/at/all\n')
  })

  it('refuses an output path that cannot be written before anything is started', async () => {
    expect((await remora('run', '--agents', 'lint', '--out', '/nowhere/at/all.patch')).code).toBe('CONFIG_003')
  })

  it('names every bad variable of the environment at once', () => {
    const bad = { REMORA_API_URL: 'not a url', REMORA_LOG_LEVEL: 'loud' }
    expect(() => readCliConfig(bad)).toThrow(/^(?=.*REMORA_API_URL)(?=.*REMORA_LOG_LEVEL)/)
  })

  it.each(['foo', 'localhost:8000', 'http://one/v1,two', ','])('refuses %j for model servers', (urls) => {
    expect(() => readCliConfig({ REMORA_MODEL_URLS: urls })).toThrow(/REMORA_MODEL_URLS.*http/)
  })

  it('refuses details of a server that is not among the model servers', () => {
    const pool = { REMORA_MODEL_POOL: '[{"url":"http://one/v1/"}]' }
    expect(() => readCliConfig({ ...pool, REMORA_MODEL_URLS: 'http://two/v1' })).toThrow(
      /http:\/\/one\/v1\/ is not one of/,
    )
    for (const urls of ['http://two/v1,http://one/v1', 'rehearsal', '']) {
      expect(() => readCliConfig({ ...pool, REMORA_MODEL_URLS: urls })).not.toThrow()
    }
  })

  it.each(['', 'rehearsal', 'http://one/v1', 'http://one/v1, https://two/v1'])('takes %j for model servers', (urls) => {
    expect(readCliConfig({ REMORA_MODEL_URLS: urls }).modelUrls).toBe(urls === '' ? undefined : urls)
  })
})
