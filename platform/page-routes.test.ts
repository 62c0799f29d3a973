import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Hono } from 'hono'
import { describe, expect, it, onTestFinished } from 'vitest'
import { asAppError } from '#domain/error.ts'
import { pageRoutes } from './page-routes.ts'

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'remora-page-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return folder
}

describe('the page', () => {
  it('is served with nothing of elsewhere allowed, and its files for ever', async () => {
    const folder = await temporaryFolder()
    await writeFile(join(folder, 'index.html'), '<!doctype html>')
    await writeFile(join(folder, 'main-abc123.js'), 'const a = 1')
    const page = pageRoutes(folder)
    const index = await page.request('/')
    expect(index.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/)
    expect(index.headers.get('cache-control')).toBe('no-cache')
    const script = await page.request('/assets/main-abc123.js')
    expect([script.headers.get('content-type'), script.headers.get('cache-control')]).toEqual([
      'text/javascript; charset=utf-8',
      'public, max-age=31536000, immutable',
    ])
    await writeFile(join(folder, 'large-abc123.js'), 'let a = 1\n'.repeat(1_000))
    const large = await page.request('/assets/large-abc123.js', { headers: { 'accept-encoding': 'gzip' } })
    expect(large.headers.get('content-encoding')).toBe('gzip')
  })

  it('that is not built says how it is, and is served once it was built', async () => {
    const folder = join(await temporaryFolder(), 'dist')
    const page = new Hono().route('/', pageRoutes(folder))
    page.onError((error) => new Response(asAppError(error, 'HTTP_007').message, { status: 404 }))
    expect(await (await page.request('/')).text()).toContain('npm run prepare')
    await mkdir(folder)
    await writeFile(join(folder, 'index.html'), '<!doctype html>')
    expect((await page.request('/')).status).toBe(200)
    expect((await page.request('/assets/..%2F..%2Fpackage.json')).status).toBe(404)
  })
})
