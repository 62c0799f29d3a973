import { describe, expect, it } from 'vitest'
import { readSettingsFile } from './read-settings-file.ts'

const read = (source: string) =>
  readSettingsFile('remora.yaml', source).map(({ setting, value, line }) => [setting.path.join('.'), value, line])

describe('a settings file', () => {
  it('gives what it sets, each with its line', () => {
    const source = '# mine\nexecution:\n  concurrency: 4\n\nagents:\n  settings: { docstring: { style: google } }\n'
    expect(read(source)).toEqual([
      ['agents.settings', { docstring: { style: 'google' } }, 6],
      ['execution.concurrency', 4, 3],
    ])
  })

  it.each(['', '# nothing yet\n', 'discovery:\n  # paths: []\nmodel:\n'])('may be empty, or comments: %j', (source) => {
    expect(read(source)).toEqual([])
  })

  it.each([
    ['a: [1\nb: 2\n', 'CONFIG_002', /remora\.yaml:2:\d+: /],
    ['- a\n', 'CONFIG_003', /remora\.yaml:1: the file must consist of sections/],
    ['\u{0}\uFFFD[', 'CONFIG_002', /remora\.yaml is not a text file in UTF-8/],
    ['execution:\n  concurrency: lots\n', 'CONFIG_003', /remora\.yaml:2: execution\.concurrency: .*number/],
    ['model:\n  request: { hedge_after_ms: 2147483648 }\n', 'CONFIG_003', /hedge_after_ms: Too big/],
    ['execution: 5\n', 'CONFIG_003', /remora\.yaml:1: execution: /],
    ['discovery:\n  exclude: ["a,b"]\n', 'CONFIG_003', /discovery\.exclude: .*comma/],
    ['storage:\n  redis_url: redis://me:pw@host:1\n', 'CONFIG_003', /storage\.redis_url: .*environment/],
    ['model:\n  pool: [{ url: "http://me:pw@host/v1" }]\n', 'CONFIG_003', /model\.pool\.0\.url: .*environment/],
    [
      'model:\n  pool: [{ url: "http://a/v1", models: [x] }, { url: "http://b/v1", models: [y] }]\n  default: z\n',
      'CONFIG_003',
      /remora\.yaml:3: model\.default: no server of model\.pool has "z" among its models: x, y/,
    ],
    ['model: { pool: [] }\n', 'CONFIG_003', /model\.pool: must not be empty$/],
    ['model: { pool: [{ models: [x] }] }\n', 'CONFIG_003', /model\.pool\.0\.url: is missing, and must be a text$/],
    ['model: { pool: [{ url: host }] }\n', 'CONFIG_003', /model\.pool\.0\.url: must be an address, such as http:/],
    ['execution:\n  concurency: 2\n', 'CONFIG_004', /remora\.yaml:2: .*did you mean concurrency\?/],
    ['api:\n  colour: red\n', 'CONFIG_004', /api\.colour: known are host, port/],
    ['agents:\n  mapping: { lint: { node_kind: [file] } }\n', 'CONFIG_004', /did you mean node_kinds\?/],
    ['model:\n  pool: [{ uri: "http://host/v1" }]\n', 'CONFIG_003', /did you mean url\?/],
  ])('is refused with its lines and what was meant: %j', (source, code, message) => {
    expect(() => read(source)).toThrow(expect.objectContaining({ code, message: expect.stringMatching(message) }))
  })

  it.each([
    'pool: [{ url: "http://a/v1", models: [x] }, { url: "http://b/v1", models: [y] }]\n  default: y',
    'pool: [{ url: "http://a/v1", models: [x] }, { url: "http://b/v1" }]\n  default: y',
    'pool: [{ url: "http://a/v1", models: [x] }]\n  default: rehearsal',
  ])('may name the model that a server is asked for: %s', (source) => {
    expect(() => read(`model:\n  ${source}\n`)).not.toThrow()
  })

  it('is told all of its faults at once', () => {
    const source = 'execution:\n  concurrency: 0\n  concurency: 2\napi: { port: 99999 }\n'
    expect(() => read(source)).toThrow(/:2: .*:3: .*:4: |:4: .*:2: .*:3: |:2: .*:4: /)
  })
})
