import { createSign, generateKeyPairSync } from 'node:crypto'
import { Octokit } from '@octokit/core'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { lacks } from '../this-machine.ts'
import { clientOf, clientWith, refusalOf } from './octokit.fixture.ts'
import { type FakeGitHub, startFakeGitHub } from './start-fake-github.ts'

const at = { owner: 'acme', repo: 'inventory' }

describe.skipIf(lacks('git'))('credentials of the fake GitHub', () => {
  let github: FakeGitHub
  let installation: ReturnType<FakeGitHub['install']>

  beforeEach(async () => {
    github = await startFakeGitHub()
    await github.addRepository({ owner: 'acme', name: 'inventory', private: true, files: { 'a.py': '' } })
    await github.addRepository({ owner: 'acme', name: 'other', private: true, files: { 'a.py': '' } })
    installation = github.install({ account: 'acme', repositories: ['inventory'] })
  })
  afterEach(() => github.close())

  /** A token as the API gives it. */
  async function tokenFor(wish: { repositories?: string[]; permissions?: Record<string, 'read' | 'write'> }) {
    const { data } = await clientOf(github).request('POST /app/installations/{installation_id}/access_tokens', {
      installation_id: installation.id,
      ...wish,
    })
    return data
  }

  it('let the app see its installations, and an installation its repositories', async () => {
    const app = clientOf(github)
    expect((await app.request('GET /app')).data).toMatchObject({ id: github.app.id, slug: 'remora-test' })
    const { data } = await app.request('GET /repos/{owner}/{repo}/installation', at)
    expect(data.id).toBe(installation.id)
    const mine = await clientOf(github, { installationId: installation.id }).request('GET /installation/repositories')
    expect(mine.data.repositories.map(({ full_name: name }) => name)).toEqual(['acme/inventory'])
    const other = app.request('GET /repos/{owner}/{repo}/installation', { owner: 'acme', repo: 'other' })
    expect(await refusalOf(other)).toBe('404 Not Found')
  })

  it('take only JWTs of the own key, for at most ten minutes', async () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 })
    const wrongKey = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
    const stranger = clientOf(github, { privateKey: wrongKey })
    expect(await refusalOf(stranger.request('GET /app'))).toBe('401 A JSON web token could not be decoded')
    const now = Math.floor(Date.now() / 1_000)
    const ask = async (claims: { iat: number; exp: number; iss?: string }) => {
      const jwt = signed({ iss: String(github.app.id), ...claims }, github.app.privateKey)
      return refusalOf(clientWith(github, jwt).request('GET /app', { headers: { authorization: `bearer ${jwt}` } }))
    }
    expect(await ask({ iat: now - 30, exp: now + 500 })).toBe('it was not refused')
    expect(await ask({ iat: now - 30, exp: now + 700 })).toContain('is too far in the future')
    expect(await ask({ iat: now - 700, exp: now - 1 })).toContain("'Expiration time' claim ('exp') must be")
    expect(await ask({ iat: now + 60, exp: now + 500 })).toContain("'Issued at' claim ('iat') must be")
    expect(await ask({ iat: now - 30, exp: now + 500, iss: '1' })).toBe('401 Integration not found')
  })

  it('come from the manifest of an app, once', async () => {
    const code = github.registerFromManifest()
    const convert = () =>
      new Octokit({ baseUrl: github.apiUrl }).request('POST /app-manifests/{code}/conversions', { code })
    expect((await convert()).data).toMatchObject({ id: github.app.id, pem: github.app.privateKey })
    expect(await refusalOf(convert())).toBe('404 Not Found')
  })

  it('let the app say where its webhooks go', async () => {
    const url = 'http://127.0.0.1:9/hooks'
    const app = clientOf(github)
    await app.request('PATCH /app/hook/config', { data: { url, secret: 'new' } })
    expect((await app.request('GET /app/hook/config')).data).toMatchObject({ url, secret: '********' })
    expect(github.app.webhookSecret).toBe('new')
  })

  it('forgive a client whose clock is wrong: it reads the time of the answer', async () => {
    github.advance(20 * 60_000)
    expect((await clientOf(github).request('GET /app')).status).toBe(200)
  })

  it('give tokens that are narrower than the installation, and never wider', async () => {
    const token = await tokenFor({ repositories: ['inventory'], permissions: { contents: 'read' } })
    expect(token.permissions).toEqual({ contents: 'read', metadata: 'read' })
    const client = clientWith(github, token.token)
    expect(
      (await client.request('GET /repos/{owner}/{repo}/branches/{branch}', { ...at, branch: 'main' })).status,
    ).toBe(200)
    const write = client.request('POST /repos/{owner}/{repo}/git/blobs', { ...at, content: 'x' })
    expect(await refusalOf(write)).toBe('403 Resource not accessible by integration')
    expect(await refusalOf(client.request('GET /repos/{owner}/{repo}/pulls', at))).toContain('403')
    expect(await refusalOf(tokenFor({ permissions: { issues: 'write' } }))).toContain('422 The permissions requested')
    expect(await refusalOf(tokenFor({ repositories: ['other'] }))).toContain('422 There is at least one repository')
  })

  it('do not reach other repositories', async () => {
    const client = clientOf(github, { installationId: installation.id })
    const other = { owner: 'acme', repo: 'other' }
    expect(await refusalOf(client.request('GET /repos/{owner}/{repo}', other))).toBe('404 Not Found')
    installation.addRepositories('other')
    expect((await client.request('GET /repos/{owner}/{repo}', other)).status).toBe(200)
    installation.removeRepositories('other')
    expect(await refusalOf(client.request('GET /repos/{owner}/{repo}', other))).toBe('404 Not Found')
  })

  it('end with the hour, a suspension, a lost permission and the installation', async () => {
    const { token } = await tokenFor({})
    const ask = () => refusalOf(clientWith(github, token).request('GET /repos/{owner}/{repo}/pulls', at))
    expect(await ask()).toBe('it was not refused')
    installation.setPermissions({ contents: 'read' })
    expect(await ask()).toBe('403 Resource not accessible by integration')
    installation.suspend()
    expect(await ask()).toBe('403 This installation has been suspended')
    expect(await refusalOf(tokenFor({}))).toBe('403 This installation has been suspended')
    installation.unsuspend()
    github.advance(3_601_000)
    expect(await ask()).toBe('401 Bad credentials')
    installation.uninstall()
    expect(await refusalOf(tokenFor({}))).toBe('404 Not Found')
    const told = github.webhooks.deliveries.map(({ event, action }) => `${event} ${action}`)
    expect(told).toEqual(['created', 'suspend', 'unsuspend', 'deleted'].map((action) => `installation ${action}`))
  })
})

function signed(claims: object, privateKey: string): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`
  return `${text}.${createSign('RSA-SHA256').update(text).sign(privateKey, 'base64url')}`
}
