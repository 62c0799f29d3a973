import { describe, expect, it } from 'vitest'
import { runForm, tarOf } from '../../app.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

const api = useTestApi()
const origin = 'http://localhost:8420'

type Sent = { method?: string; headers?: Record<string, string>; body?: FormData }

const page = () => ({ 'x-remora-page': `environment/${api.project}` })

/** Asks as a browser does, which has no token but the cookie. */
const browse = async (path: string, cookie: string | undefined, { headers, ...init }: Sent = {}) =>
  api.app.request(`${origin}${path}`, { ...init, headers: { ...(cookie && { cookie }), ...headers } })

async function signIn(token = api.token, at = origin) {
  const answer = await api.app.request(`${at}/v1/session`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  const set = answer.headers.get('set-cookie') ?? ''
  return { answer, set, cookie: set.slice(0, set.indexOf(';')) }
}

describe('a session', () => {
  it('is a cookie that no script reads and no other site sends', async () => {
    const { answer, set } = await signIn()
    expect(await answer.json()).toMatchObject({
      project_id: api.project,
      scopes: ['runs:read', 'runs:write', 'tokens:admin'],
    })
    expect(set).toMatch(/; HttpOnly/)
    expect(set).toMatch(/; SameSite=Strict/)
    expect(set).not.toMatch(/Secure|Expires|Max-Age/)
    expect((await signIn(api.token, 'https://remora.test')).set).toMatch(/; Secure/)
  })

  it('reads, and with the header of the page also writes', async () => {
    const { cookie } = await signIn()
    expect((await browse('/v1/runs', cookie)).status).toBe(200)
    const submit = async (headers = {}) =>
      browse('/v1/runs', cookie, { method: 'POST', body: runForm(await tarOf({ 'a.py': 'x = 1\n' })), headers })
    expect((await submit()).status).toBe(401)
    expect((await submit({ 'x-remora-page': 'another' })).status).toBe(401)
    expect((await submit(page())).status).toBe(202)
  })

  it('ends, and counts on its own port alone', async () => {
    const { cookie } = await signIn()
    const ended = await browse('/v1/session', cookie, { method: 'DELETE', headers: page() })
    expect(ended.status).toBe(204)
    expect(ended.headers.get('set-cookie')).toMatch(/Max-Age=0/)
    const elsewhere = await api.app.request('http://localhost:8421/v1/runs', { headers: { cookie } })
    expect(elsewhere.status).toBe(401)
  })

  it('is not begun by an unknown token, nor by a cookie', async () => {
    const unknown = await signIn('no-such-token-anywhere')
    expect([unknown.answer.status, unknown.set]).toEqual([401, ''])
    const { cookie } = await signIn()
    expect((await browse('/v1/session', cookie, { method: 'POST', headers: page() })).status).toBe(401)
  })

  it('opens a WebSocket for the page alone', async () => {
    const { cookie } = await signIn()
    const upgrade = { connection: 'upgrade', upgrade: 'websocket' }
    const statusFor = async (from: string) =>
      (await browse('/v1/session', cookie, { headers: { ...upgrade, origin: from } })).status
    expect(await statusFor('http://localhost:9999')).toBe(401)
    expect(await statusFor('https://evil.test')).toBe(401)
    expect(await statusFor(origin)).toBe(200)
  })
})
