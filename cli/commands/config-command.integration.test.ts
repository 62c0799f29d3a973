import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { remoraHere } from '../../tests/remora-here.ts'
import { useFreshFolder } from '../fresh-folder.fixture.ts'

let dir = ''
useFreshFolder((path) => (dir = path))

const config = (args: readonly string[], own: Record<string, string> = {}) =>
  remoraHere({ path: dir }, ['config', ...args], own)

describe('remora config', () => {
  it.each([
    [
      'agents:\n  settings:\n    docstring: { styl: google }\n',
      'CONFIG_004',
      /remora\.yaml:3: agents\.settings\.docstring\.styl: there is no such setting: did you mean style\?$/,
    ],
    [
      'agents:\n  settings:\n    docstring:\n      style: 3\n  mapping: { lnt: { priority: 1 } }\n',
      'CONFIG_003',
      /remora\.yaml:5: agents\.mapping\.lnt: there is no such agent: did you mean lint\?; \S+remora\.yaml:4: agents\.settings\.docstring\.style: must be one of \[.*\], got: 3$/,
    ],
    ['discovery: { languages: [pyton] }\n', 'DISC_003', /pyton/],
  ])('refuses what every run refuses: %j', async (settings, code, message) => {
    await writeFile(join(dir, 'remora.yaml'), settings)
    for (const args of [[], ['--json']]) {
      const { err } = await config(args)
      expect(err).toMatch(new RegExp(`^remora: ${code} `))
      expect(err.trimEnd()).toMatch(message)
    }
  })

  it('says which variable has the fault, where that counts instead of the file', async () => {
    await writeFile(join(dir, 'remora.yaml'), 'agents: { settings: { docstring: { style: google } } }\n')
    const own = { REMORA_AGENTS_SETTINGS: '{"docstring":{"styl":"google"}}' }
    const { err } = await config([], own)
    expect(err).toMatch(/^remora: CONFIG_004 REMORA_AGENTS_SETTINGS: agents\.settings\.docstring\.styl: /)
  })

  it('prints what counts as a settings file, each value with where it comes from', async () => {
    await writeFile(join(dir, 'remora.yaml'), 'execution:\n  concurrency: 4\ndiscovery: { exclude: [vendor] }\n')
    const { out, err } = await config([], { REMORA_S3_BUCKET: 'mine' })
    expect(out).toMatch(/concurrency: 4 +# remora\.yaml:2/)
    expect(out).toMatch(/bucket: mine +# REMORA_S3_BUCKET/)
    expect(out).toMatch(/paths: \[\] +# default/)
    expect(parse(out)).toMatchObject({
      discovery: { exclude: ['vendor'] },
      execution: { concurrency: 4 },
      api: { port: 8420 },
    })
    expect(err).toBe('')
  })

  it('warns of what has no effect, of a variable nobody knows, and of a server that does not answer, and goes on', async () => {
    await writeFile(join(dir, 'remora.yaml'), 'setup: { command: make }\n')
    const own = { REMORA_MODEL_URL: 'x', REMORA_MODEL_URLS: 'http://127.0.0.1:1/v1' }
    const { out, code } = await config(['--json'], own)
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      file: 'remora.yaml',
      model: { kind: 'servers' },
      warnings: [
        { code: 'CONFIG_005' },
        { code: 'CONFIG_004', message: expect.stringContaining('did you mean REMORA_MODEL_URLS?') },
        { code: 'CONFIG_004', message: expect.stringContaining('remora.yaml:1: setup.command') },
      ],
    })
  })

  it('knows the variables that name the files of secrets, and shows what these say without its secret', async () => {
    const file = join(dir, 'redis_url')
    await writeFile(file, 'redis://:secret@stores:6380\n')
    const { out, err } = await config([], { REMORA_REDIS_URL_FILE: file, REMORA_TOKEN_FILE: file })
    expect(out).toMatch(/url: redis:\/\/\S*@?stores:6380 +# REMORA_REDIS_URL_FILE/)
    expect(out).not.toContain('secret')
    expect(err).toBe('')
  })

  it.each([
    ['REMORA_REDIS_URL', 'redis://:se,cret@host:1'],
    ['REMORA_REDIS_URL', 'redis+cluster://u:secret@h1:1,h2:2'],
    ['REMORA_S3_ENDPOINT', 'http://u:se@cret@host:1'],
  ])('shows nothing secret of %s=%s', async (name, address) => {
    for (const args of [[], ['--json']]) {
      const { out, err } = await config(args, { [name]: address })
      expect(out + err).not.toMatch(/cret/)
    }
  })

  it.each(['http://sk-secret@127.0.0.1:1/v1', 'http://127.0.0.1:1/v1?api_key=secret'])(
    'refuses a model server whose address is %s, and shows nothing secret of it',
    async (address) => {
      const { err } = await config([], { REMORA_MODEL_URLS: address })
      expect(err).toMatch(/^remora: CONFIG_003 bad environment: REMORA_MODEL_URLS: (?!.*secret).*must be without a/)
    },
  )

  it('says that a key would go to servers of a file that was only found', async () => {
    await writeFile(join(dir, 'remora.yaml'), 'model: { pool: [{ url: "http://127.0.0.1:1/v1" }] }\n')
    const { err, code } = await config([], { REMORA_MODEL_API_KEY: 'key-of-mine' })
    expect(code).toBe(0)
    expect(err).toMatch(/^CONFIG_003 warning: .*remora\.yaml:1: REMORA_MODEL_API_KEY would be sent/)
  })
})
