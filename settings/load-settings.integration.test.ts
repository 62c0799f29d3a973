import { execFileSync } from 'node:child_process'
import { chmod, mkdir, symlink, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { giveAway } from '#testing/this-machine.ts'
import { effectiveSettings, loadSettings } from './load-settings.ts'

let dir = ''
let inside = ''
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-settings-'))
  inside = join(dir, 'a', 'b')
  await mkdir(inside, { recursive: true })
})
afterEach(() => rm(dir, { recursive: true }))

const write = async (text: string, name = 'remora.yaml') => {
  await writeFile(join(dir, name), text)
  return join(dir, name)
}

describe('settings', () => {
  it('are found upwards, and become the variables the services read', async () => {
    const path = await write(
      'agents: { dir: my-agents }\nexecution: { concurrency: 4 }\nmodel: { pool: [{ url: "http://a/v1" }, { url: "http://b/v1" }] }\ndiscovery: { exclude: [vendor, "*.pb.py"] }\n',
    )
    const settings = loadSettings({ HOME: '/home/me' }, inside)
    expect(settings.path).toBe(path)
    expect(settings.env).toEqual({
      HOME: '/home/me',
      REMORA_AGENTS_DIR: join(dir, 'my-agents'),
      REMORA_WORKER_SLOTS: '4',
      REMORA_MODEL_URLS: 'http://a/v1,http://b/v1',
      REMORA_DISCOVERY_EXCLUDE: 'vendor,*.pb.py',
    })
  })

  it('give way to the environment, in which an empty variable is none', async () => {
    await write('execution: { concurrency: 4, max_turns: 3 }\n')
    const env = { REMORA_WORKER_SLOTS: '9', REMORA_MAX_TURNS: '' }
    const settings = loadSettings(env, inside)
    expect(settings.env).toEqual({ REMORA_WORKER_SLOTS: '9', REMORA_MAX_TURNS: '3' })
    const sources = effectiveSettings(settings, env).map(({ setting, source, value }) => ({
      key: setting.path.join('.'),
      source,
      value,
    }))
    expect(sources).toContainEqual({
      key: 'execution.concurrency',
      value: 9,
      source: { kind: 'environment', variable: 'REMORA_WORKER_SLOTS' },
    })
    expect(sources).toContainEqual({ key: 'execution.max_turns', value: 3, source: { kind: 'file', line: 1 } })
    expect(sources).toContainEqual({ key: 'api.port', value: 8420, source: { kind: 'default' } })
  })

  it('say that the rehearsal model plays, also beside servers', async () => {
    await write('model: { pool: [{ url: "http://a/v1" }], default: rehearsal }\n')
    expect(loadSettings({}, dir).env).toEqual({ REMORA_MODEL_URLS: 'rehearsal' })
    await write('model: { pool: [{ url: "http://a/v1" }], default: gemma }\n')
    expect(loadSettings({}, dir).env).toEqual({ REMORA_MODEL_URLS: 'http://a/v1', REMORA_MODEL: 'gemma' })
  })

  it('say of model servers what the workers read of them, unless the environment names the servers', async () => {
    await write(
      'model: { pool: [{ url: "http://a/v1", models: [m, m-lora], max_in_flight: 8 }, { url: "http://b/v1" }] }\n',
    )
    const pool = [{ url: 'http://a/v1', models: ['m', 'm-lora'], max_in_flight: 8 }, { url: 'http://b/v1' }]
    const said = { REMORA_MODEL_URLS: 'http://a/v1,http://b/v1', REMORA_MODEL_POOL: JSON.stringify(pool) }
    expect(loadSettings({}, dir).env).toEqual(said)
    const own = { REMORA_MODEL_URLS: 'http://mine/v1' }
    expect(loadSettings(own, dir).env).toEqual(own)
    expect(loadSettings({ REMORA_MODEL_POOL: '[]' }, dir).env).toEqual({ ...said, REMORA_MODEL_POOL: '[]' })
  })

  it('can be named, and are missed when they are not there', async () => {
    const path = await write('api: { port: 1 }\n', 'other.yaml')
    expect(loadSettings({ REMORA_CONFIG: '../../other.yaml' }, inside).path).toBe(path)
    expect(loadSettings({ REMORA_CONFIG: 'none' }, inside)).toMatchObject({ path: undefined, given: [] })
    for (const blank of ['', ' ']) {
      expect(loadSettings({ REMORA_CONFIG: blank }, dir)).toMatchObject({ path: undefined, given: [] })
    }
    const missing = () => loadSettings({ REMORA_CONFIG: 'none.yaml' }, inside)
    expect(missing).toThrow(expect.objectContaining({ code: 'CONFIG_001' }))
  })

  it('that came with the sources do not choose who is given the key of the models', async () => {
    const path = await write('model: { pool: [{ url: "http://a/v1" }] }\n')
    const env = { REMORA_MODEL_API_KEY: 'secret' }
    const { keyFault } = loadSettings(env, inside)
    expect(keyFault).toMatchObject({ code: 'CONFIG_003', message: expect.stringContaining(`${path}:1: `) })
    const named = loadSettings({ ...env, REMORA_CONFIG: path }, inside)
    expect([named.env['REMORA_MODEL_URLS'], named.keyFault]).toEqual(['http://a/v1', undefined])
    const own = { ...env, REMORA_MODEL_URLS: 'http://mine/v1' }
    expect(loadSettings(own, inside)).toMatchObject({ env: own })
    expect(loadSettings(own, inside).keyFault).toBeUndefined()
    await write('model: { pool: [{ url: "http://a/v1" }], default: rehearsal }\n')
    expect(loadSettings(env, inside).keyFault).toBeUndefined()
  })

  it.each([
    ['mode: on', 'REMORA_SETUP', 'off'],
    ['registries: [evil.example]', 'REMORA_SETUP_REGISTRIES', 'pypi.org'],
    ['internal_registries: [10.0.0.1]', 'REMORA_SETUP_INTERNAL_REGISTRIES', 'own.example'],
    ['variables: { A: b }', 'REMORA_SETUP_VARIABLES', '{}'],
  ])('that came with the sources do not decide about setups: %s', async (text, variable, own) => {
    const path = await write(`setup: { ${text} }\n`)
    const words = new RegExp(`remora.yaml:1: setup.*name the file with --config or REMORA_CONFIG, or set ${variable}$`)
    const refused = expect.objectContaining({ code: 'CONFIG_003', message: expect.stringMatching(words) })
    expect(() => loadSettings({}, inside)).toThrow(refused)
    expect(loadSettings({ REMORA_CONFIG: path }, inside).env[variable]).toBeDefined()
    expect(loadSettings({ [variable]: own }, inside).env[variable]).toBe(own)
    await write('setup: { mode: off }\n')
    expect(loadSettings({}, inside).path).toBe(path)
  })

  it('that came with the sources name a setup only where the user allows setups', async () => {
    const path = await write('setup: { command: ./evil }\n')
    const { env, given, ...found } = loadSettings({}, inside)
    expect(env['REMORA_SETUP_COMMAND']).toBeUndefined()
    expect(given[0]?.setting.unserved).toContain('--setup')
    const [shown] = effectiveSettings({ ...found, given }, {}).filter(({ setting }) => setting.path[1] === 'command')
    expect(shown?.source).toEqual({ kind: 'default' })
    for (const own of [{ REMORA_SETUP: 'on' }, { REMORA_CONFIG: path }])
      expect(loadSettings(own, inside).env['REMORA_SETUP_COMMAND']).toBe('./evil')
  })

  it('that came with the sources do not choose what a setup reads of the machine', async () => {
    const path = await write('sandbox: { paths: [/home/me] }\n')
    const { env, pathsFault } = loadSettings({}, inside)
    expect(env['REMORA_SANDBOX_PATHS']).toBe('/home/me')
    expect(pathsFault).toMatchObject({ code: 'CONFIG_003', message: expect.stringContaining(`${path}:1: `) })
    for (const own of [{ REMORA_SANDBOX_PATHS: '/opt' }, { REMORA_CONFIG: path }])
      expect(loadSettings(own, inside).pathsFault).toBeUndefined()
  })

  it('that are a folder are refused', async () => {
    await mkdir(join(dir, 'remora.yaml'))
    const message = expect.stringMatching(/remora\.yaml is a folder, not a settings file: rename it/)
    expect(() => loadSettings({}, inside)).toThrow(expect.objectContaining({ code: 'CONFIG_003', message }))
    expect(loadSettings({ REMORA_CONFIG: 'none' }, inside).path).toBeUndefined()
  })

  it('that are a link, or that anyone may write, count only when they are named', async () => {
    const path = await write('api: { port: 1 }\n')
    await symlink(path, join(inside, 'remora.yaml'))
    expect(() => loadSettings({}, inside)).toThrow(/is a link/)
    await rm(join(inside, 'remora.yaml'))
    await chmod(path, 0o666)
    expect(() => loadSettings({}, inside)).toThrow(/may be written by others.*REMORA_CONFIG=none/)
    expect(loadSettings({ REMORA_CONFIG: 'none' }, inside).path).toBeUndefined()
    expect(loadSettings({ REMORA_CONFIG: path }, inside).env).toMatchObject({ REMORA_API_PORT: '1' })
  })

  it('that say "rehearsal" give way to a server or a model that the environment names', async () => {
    await write('model: { pool: [{ url: "http://a/v1" }], default: rehearsal }\n')
    const env = { REMORA_MODEL: 'gemma' }
    const settings = loadSettings(env, dir)
    expect(settings.env).toEqual({ REMORA_MODEL: 'gemma', REMORA_MODEL_URLS: 'http://a/v1' })
    const model = effectiveSettings(settings, env).find(({ setting }) => setting.path.join('.') === 'model.default')
    expect(model).toMatchObject({ value: 'gemma', source: { variable: 'REMORA_MODEL' } })
  })

  it('of another user count only when they are named', async (test) => {
    const path = await write('api: { port: 1 }\n')
    const refused = await giveAway(path)
    if (refused !== undefined) return test.skip(refused)
    const reached = () => loadSettings({}, inside)
    expect(reached).toThrow(expect.objectContaining({ code: 'CONFIG_003' }))
    expect(loadSettings({ REMORA_CONFIG: path }, inside).env).toMatchObject({ REMORA_API_PORT: '1' })
  })
})

describe('secrets in files', () => {
  it('count as the variables whose names they have, without the line end that an editor leaves', async () => {
    const token = await write('a-token-of-some-length\n', 'token')
    const key = await write('k\r\n', 'key')
    const { env } = loadSettings(
      { REMORA_TOKEN_FILE: token, AWS_SECRET_ACCESS_KEY_FILE: key, REMORA_CONFIG: 'none' },
      dir,
    )
    expect(env).toMatchObject({ REMORA_TOKEN: 'a-token-of-some-length', AWS_SECRET_ACCESS_KEY: 'k' })
  })

  it('are one error when they cannot be read, are empty, or are given in both ways; none of it has a value', async () => {
    const empty = await write('\n', 'empty')
    const token = await write('a-token-of-some-length\n', 'token')
    const env = {
      REMORA_TOKEN: 'another-token-in-here',
      REMORA_TOKEN_FILE: token,
      REMORA_REDIS_URL_FILE: join(dir, 'none'),
      AWS_SECRET_ACCESS_KEY_FILE: empty,
      REMORA_CONFIG: 'none',
    }
    const fault = expect.objectContaining({
      code: 'CONFIG_003',
      message: [
        'REMORA_TOKEN_FILE: REMORA_TOKEN is set as well',
        `REMORA_REDIS_URL_FILE: ${join(dir, 'none')} cannot be read (ENOENT)`,
        `AWS_SECRET_ACCESS_KEY_FILE: ${empty} is empty`,
      ].join('; '),
    })
    expect(() => loadSettings(env, dir)).toThrow(fault)
  })

  it('are read through links, as Kubernetes mounts them; an empty one for the models means that they ask for none', async () => {
    await write('a-token-of-some-length\n', 'token')
    await symlink('token', join(dir, 'link'))
    const empty = await write('', 'empty')
    const given = { REMORA_TOKEN_FILE: join(dir, 'link'), REMORA_MODEL_API_KEY_FILE: empty, REMORA_CONFIG: 'none' }
    const { env } = loadSettings(given, dir)
    expect(env['REMORA_TOKEN']).toBe('a-token-of-some-length')
    expect(env['REMORA_MODEL_API_KEY']).toBeUndefined()
  })

  it('are refused at once where they are a device, a pipe that nobody writes to, a folder, or too long', async () => {
    execFileSync('mkfifo', [join(dir, 'pipe')])
    const long = await write('x'.repeat(70_000), 'long')
    const env = {
      REMORA_TOKEN_FILE: '/dev/zero',
      REMORA_REDIS_URL_FILE: join(dir, 'pipe'),
      AWS_ACCESS_KEY_ID_FILE: dir,
      AWS_SECRET_ACCESS_KEY_FILE: long,
      REMORA_CONFIG: 'none',
    }
    const message = [
      'REMORA_TOKEN_FILE: /dev/zero is not a file',
      `REMORA_REDIS_URL_FILE: ${join(dir, 'pipe')} is not a file`,
      `AWS_ACCESS_KEY_ID_FILE: ${dir} is not a file`,
      `AWS_SECRET_ACCESS_KEY_FILE: ${long} is too long for a secret`,
    ].join('; ')
    expect(() => loadSettings(env, dir)).toThrow(expect.objectContaining({ code: 'CONFIG_003', message }))
  })
})
