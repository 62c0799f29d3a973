import { execFileSync } from 'node:child_process'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { loadSettings } from '#settings/load-settings.ts'
import { type FakeGitHub, startFakeGitHub } from '#testing/fake-github/start-fake-github.ts'
import { until } from '#testing/until.ts'
import { parseConfig } from '../../services/publisher/publisher-config.ts'
import { runCli } from '../run-cli.ts'
import { testSigningKey } from '#testing/test-signer.ts'

let dir = ''
let github: FakeGitHub
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'remora-github-'))
  github = await startFakeGitHub()
})
afterEach(async () => {
  await github.close()
  await rm(dir, { recursive: true, force: true })
})

function remora(args: readonly string[], env: Readonly<Record<string, string>> = {}, stop = new AbortController()) {
  const printed = { out: '', err: '' }
  const code = runCli(['github', 'setup', ...args], {
    env: { PATH: '', REMORA_GITHUB_API_URL: github.apiUrl, ...env },
    cwd: dir,
    out: (text) => void (printed.out += text),
    err: (text) => void (printed.err += text),
    openSignal: async () => stop.signal,
    terminal: undefined,
    isTerminal: false,
  })
  return { printed, code }
}

/** What a person does with a browser: presses the button, and is sent on. */
async function press(page: string) {
  const of = (pattern: RegExp) => (pattern.exec(page)?.[1] ?? '').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
  const [action, manifest] = [of(/action="([^"]*)"/), of(/name="manifest" value="([^"]*)"/)]
  const body = new URLSearchParams({ manifest })
  const answer = await fetch(action, { method: 'POST', body, redirect: 'manual' })
  return {
    action: new URL(action),
    manifest: Manifest.parse(JSON.parse(manifest)),
    location: answer.headers.get('location') ?? '',
  }
}

const Manifest = z.looseObject({
  hook_attributes: z.object({ url: z.string(), active: z.boolean() }),
  default_permissions: z.record(z.string(), z.string()),
})

/** The address of the local page, once it is printed. */
async function addressIn(printed: { err: string }): Promise<string> {
  const address = () => /http:\/\/127\.0\.0\.1:\d+\/\S+/.exec(printed.err)?.[0]
  return until(address)
}

async function makeApp(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const { printed, code } = remora(args, env)
  const address = await addressIn(printed)
  const pressed = await press(await (await fetch(address)).text())
  const last = await fetch(pressed.location)
  expect([await code, last.status]).toEqual([0, 200])
  return { ...printed, ...pressed, address }
}

const keys = () => join(dir, '.remora', 'github')

describe('remora github setup', () => {
  it('makes an app with what it needs, and keeps its keys for this user alone', async () => {
    const { out, err, action, manifest } = await makeApp(['--org', 'acme', '--url', 'https://remora.example/'])
    expect(action.pathname).toBe('/organizations/acme/settings/apps/new')
    expect(manifest.hook_attributes).toEqual({ url: 'https://remora.example/webhooks/github', active: true })
    expect(manifest.default_permissions).toEqual({
      checks: 'write',
      contents: 'write',
      issues: 'read',
      metadata: 'read',
      pull_requests: 'write',
    })
    const file = join(keys(), 'private-key.pem')
    expect((await readFile(file, 'utf8')).trim()).toBe(github.app.privateKey.trim())
    expect([(await stat(file)).mode & 0o777, (await stat(keys())).mode & 0o777]).toEqual([0o600, 0o700])
    expect(await readFile(join(keys(), '.gitignore'), 'utf8')).toBe('*\n')
    expect(err).toContain(`${github.apiUrl}/apps/remora-test/installations/new`)
    expect(out + err).not.toMatch(/PRIVATE KEY-----/)
    expect(out + err).not.toContain(github.app.webhookSecret)
  })

  it('prints lines for a shell, with which a service knows its app', async () => {
    const { out } = await makeApp(['--url', 'https://remora.example', '--folder', "my app's keys"])
    const shown = execFileSync('/bin/sh', ['-c', `${out}/usr/bin/env`], { env: {} }).toString()
    const lines = shown.split('\n').filter((line) => line.startsWith('REMORA_'))
    const env = Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
    const settings = loadSettings(env, dir).env
    const { config: publisher } = parseConfig({ ...settings, REMORA_SIGNING_KEY: testSigningKey })
    expect(publisher.github).toMatchObject({ appId: String(github.app.id), apiUrl: github.apiUrl })
    expect(publisher.github?.privateKey.trim()).toBe(github.app.privateKey.trim())
    expect(settings['REMORA_GITHUB_WEBHOOK_SECRET']).toBe(github.app.webhookSecret)
  })

  it('takes the code that comes with its own state, at its own address, and no other', async () => {
    const stop = new AbortController()
    const { printed, code } = remora(['--no-webhook'], {}, stop)
    const address = await addressIn(printed)
    const at = (path: string) => fetch(new URL(path, address)).then(({ status }) => status)
    expect(await at('/')).toBe(404)
    expect(await at('/made?code=0123456789abcdef&state=guessed')).toBe(403)
    const { location } = await press(await (await fetch(address)).text())
    const forged = new URL(location)
    forged.searchParams.set('state', 'another')
    expect(await at(forged.href)).toBe(403)
    stop.abort(new Error('Ctrl-C'))
    expect(await code).toBe(130)
    await expect(fetch(address)).rejects.toThrow('fetch failed')
    await expect(stat(join(keys(), 'private-key.pem'))).rejects.toThrow('ENOENT')
  })

  it('works with a browser elsewhere: a page, and then the code', async () => {
    const page = remora(['--print', '--url', 'https://remora.example'])
    expect(await page.code).toBe(0)
    const { location } = await press(page.printed.out)
    const code = new URL(location).searchParams.get('code') ?? ''
    const made = remora(['--code', code, '--json'])
    expect(await made.code).toBe(0)
    expect(JSON.parse(made.printed.out)).toMatchObject({ app_id: github.app.id, slug: 'remora-test' })
    const again = remora(['--code', code, '--json', '--force'])
    expect(await again.code).toBe(1)
    expect(JSON.parse(again.printed.out)).toMatchObject({ error: { error_code: 'HOST_002' } })
    expect(await readFile(join(keys(), 'private-key.pem'), 'utf8')).toContain('PRIVATE KEY')
  })

  it('without webhooks has GitHub send none', async () => {
    const { manifest } = await makeApp(['--no-webhook'])
    expect(manifest.hook_attributes.active).toBe(false)
  })

  it('never replaces a key unasked, and makes no app where it could not keep one', async () => {
    await mkdir(join(dir, 'keys'), { mode: 0o700 })
    await writeFile(join(dir, 'keys', 'private-key.pem'), 'the old one')
    const refused = remora(['--no-webhook', '--folder', 'keys'])
    expect(await refused.code).toBe(1)
    expect(refused.printed.err).toMatch(/^remora: CONFIG_003 there is a key in .*--force/)
    await makeApp(['--no-webhook', '--folder', 'keys', '--force'])
    expect(await readFile(join(dir, 'keys', 'private-key.pem'), 'utf8')).toContain('PRIVATE KEY')
    await chmod(join(dir, 'keys'), 0o777)
    const open = remora(['--no-webhook', '--folder', 'keys', '--force'])
    expect([await open.code, open.printed.err]).toEqual([1, expect.stringContaining('not yours alone')])
  })

  it.each([
    [[], 'CONFIG_003 say where GitHub reaches the API'],
    [['--url', 'ftp://remora.example'], 'It must be an address'],
    [['--url', 'https://user:pass@remora.example'], 'It must be an address'],
    [['--org', 'a/b', '--no-webhook'], 'It must be the name of an organisation'],
    [['--name', 'n'.repeat(35), '--no-webhook'], 'at most 34 characters'],
    [['--code', 'a b'], 'what follows "code="'],
  ])('refuses %j', async (args, message) => {
    const { printed, code } = remora(args)
    expect(await code).toBe(2)
    expect(printed.err).toContain(message)
  })
})

describe('where the page of GitHub is', () => {
  it.each([
    ['https://api.github.com', 'https://github.com/settings/apps/new'],
    ['https://github.acme.example/api/v3', 'https://github.acme.example/settings/apps/new'],
  ])('for the API at %s', async (apiUrl, expected) => {
    const { printed, code } = remora(['--print', '--no-webhook'], { REMORA_GITHUB_API_URL: apiUrl })
    expect(await code).toBe(0)
    expect(printed.out).toContain(`action="${expected}?state=`)
  })
})
