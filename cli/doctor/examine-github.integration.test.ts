import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { type FakeGitHub, type FakeGitHubOptions, startFakeGitHub } from '#testing/fake-github/start-fake-github.ts'
import { readCliConfig } from '../cli-config.ts'
import { examineGithub } from './examine-github.ts'

let github: FakeGitHub
const webhookUrl = 'https://remora.example/webhooks/github'
beforeEach(async () => {
  github = await startFakeGitHub()
})
afterEach(() => github.close())

async function restarted(options: FakeGitHubOptions): Promise<void> {
  await github.close()
  github = await startFakeGitHub(options)
}

/** As a line for each diagnosis; `given` replaces what is right. */
async function examined(given: Readonly<Record<string, string | undefined>> = {}): Promise<string> {
  const { app, apiUrl } = github
  const right = {
    REMORA_GITHUB_APP_ID: String(app.id),
    REMORA_GITHUB_PRIVATE_KEY: app.privateKey,
    REMORA_GITHUB_WEBHOOK_SECRET: app.webhookSecret,
    REMORA_GITHUB_API_URL: apiUrl,
  }
  const config = readCliConfig({ PATH: '', ...right, ...given })
  const diagnoses = await examineGithub(config, new AbortController().signal)
  expect(diagnoses.every(({ name }) => name === 'github')).toBe(true)
  return diagnoses
    .map(({ state, found, advice }) => `${state} ${found}${advice === undefined ? '' : `: ${advice}`}`)
    .join('\n')
}

const noApp = { REMORA_GITHUB_APP_ID: undefined, REMORA_GITHUB_PRIVATE_KEY: undefined }

describe('what remora doctor says of the GitHub App', () => {
  it('nothing where there is none', async () => {
    expect(await examined({ ...noApp, REMORA_GITHUB_WEBHOOK_SECRET: undefined })).toBe('')
  })

  it('that it is as it must be, and its webhooks arrive', async () => {
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    github.webhooks.sendTo(`http://127.0.0.1:${boundPort(server)}/webhooks/github`)
    await github.addRepository({ owner: 'acme', name: 'shop', files: { 'a.py': 'A = 1\n' } })
    github.install({ account: 'acme' })
    await github.webhooks.settled()
    github.webhooks.sendTo(webhookUrl)
    const said = await examined()
    await closeServer(server)
    expect(said.split('\n')).toEqual([
      expect.stringMatching(/^ok the app remora-test \(4217\) at .* has the permissions and events that it needs$/),
      `ok webhooks go to ${webhookUrl}`,
      expect.stringMatching(/^ok the last \d webhooks have arrived$/),
      'ok a webhook secret of at least 16 characters',
    ])
  })

  it('which permissions and events it lacks', async () => {
    await restarted({ app: { permissions: { contents: 'write', checks: 'read' }, events: ['push'] } })
    const said = await examined()
    expect(said).toMatch(
      /^missing .* lacks permission checks: write, permission issues: read, permission pull_requests: write, event check_run/,
    )
  })

  it.each([
    [
      'a key of another app',
      { REMORA_GITHUB_PRIVATE_KEY: otherKey() },
      /^missing HOST_003 .* does not know app 4217 by this key/,
    ],
    ['another app', { REMORA_GITHUB_APP_ID: '999' }, /^missing HOST_003 .* does not know app 999 by this key/],
    ['no key', { REMORA_GITHUB_PRIVATE_KEY: undefined }, /^missing REMORA_GITHUB_PRIVATE_KEY_FILE is not set/],
    [
      'what is no key',
      { REMORA_GITHUB_PRIVATE_KEY: 'a-password' },
      /^missing REMORA_GITHUB_PRIVATE_KEY is no private key/,
    ],
    [
      'a host that is away',
      { REMORA_GITHUB_API_URL: 'http://127.0.0.1:1' },
      /^missing HOST_001 GitHub does not answer/,
    ],
  ])('what is wrong with %s', async (_what, given, line) => {
    expect(await examined(given)).toMatch(line)
  })

  it('that its webhook is set up wrongly, and has no secret', async () => {
    github.webhooks.sendTo('http://remora.example/')
    Object.assign(github.webhooks.config, { content_type: 'form', secret: '' })
    const said = await examined()
    const faults =
      'its address does not end with /webhooks/github, its address is not https, its content type is not application/json, it has no secret'
    expect(said).toContain(`warning webhooks go to http://remora.example/: ${faults}`)
    expect(said).toContain('warning GitHub has sent no webhook within three days')
  })

  it('which webhooks did not arrive', async () => {
    await restarted({ webhookUrl: 'http://127.0.0.1:1/webhooks/github' })
    await github.addRepository({ owner: 'acme', name: 'shop', files: { 'a.py': 'A = 1\n' } })
    github.install({ account: 'acme' })
    await github.webhooks.settled()
    expect(await examined()).toMatch(
      /warning (\d) of the last \1 webhooks did not arrive, such as installation at .*: 502/,
    )
  })

  it('that the clock is wrong', async () => {
    github.advance(-300_000)
    expect(await examined()).toMatch(/warning the clock of this machine is (?:299|300|301) s ahead of GitHub's/)
  })

  it('whether the publisher answers, also where only that is known', async () => {
    const server = createServer((_request, response) => response.writeHead(401).end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const url = `http://127.0.0.1:${boundPort(server)}`
    expect(await examined({ ...noApp, REMORA_PUBLISHER_URL: url })).toContain(`ok the publisher answers at ${url}`)
    await closeServer(server)
    expect(await examined({ ...noApp, REMORA_PUBLISHER_URL: url })).toContain('missing the publisher does not answer')
  })
})

function otherKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2_048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  })
  return privateKey
}
