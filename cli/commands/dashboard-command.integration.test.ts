import { createServer } from 'node:http'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { until } from '#testing/until.ts'
import { composeRun, playRun } from '../../services/api/played-run.fixture.ts'
import { type Printed, useServedApi } from './served-api.fixture.ts'

const served = useServedApi()

/** Calls `use` while `remora dashboard` serves the page, with its address and the link that it printed. */
async function whileServed(
  use: (page: { url: string; link: string }) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): Promise<Printed> {
  const printed = { out: '', err: '', code: 0 }
  const stop = new AbortController()
  const ended = served.remoraWith({ printed, signal: stop.signal, env }, 'dashboard', '--port', '0', '--json')
  await Promise.race([ended, until(() => printed.out, { holds: (text) => text.endsWith('\n') })])
  await use(JSON.parse(printed.out)).finally(() => stop.abort())
  return ended
}

it('serves the page, and passes what it asks on to the service, also a stream', async () => {
  const runId = await playRun(served.api, [])
  await composeRun(served.api, runId, { files: [] })
  await whileServed(async ({ url, link }) => {
    expect(link).toBe(`${url}/#/runs&token=${served.api.token}`)
    const index = await fetch(url)
    expect(index.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'/)
    const authorization = `Bearer ${served.api.token}`
    const begun = await fetch(`${url}/v1/session`, { method: 'POST', headers: { authorization } })
    const [cookie = ''] = (begun.headers.get('set-cookie') ?? '').split(';')
    const events = await fetch(`${url}/v1/runs/${runId}/events`, { headers: { cookie, accept: 'text/event-stream' } })
    expect(await events.text()).toContain('run.completed')
    const asked = await fetch(`${url}/v1/runs/${runId}?x=1`, { headers: { cookie } })
    expect([asked.status, await asked.json()]).toMatchObject([400, { detail: expect.stringContaining('x') }])
    const changed = await fetch(`${url}/v1/session`, { method: 'DELETE', headers: { cookie } })
    expect(changed.status).toBe(401) // the page's header is passed on, or its absence
  })
})

it('says that the service does not answer, and serves no file of elsewhere', async () => {
  await whileServed(
    async ({ url }) => {
      const answer = await fetch(`${url}/v1/runs`)
      expect([answer.status, await answer.json()]).toMatchObject([
        502,
        { error_code: 'CONFIG_006', detail: 'The service at http://127.0.0.1:1 does not answer.' },
      ])
      expect((await fetch(`${url}/assets/..%2F..%2Fpackage.json`)).status).toBe(404)
    },
    { REMORA_API_URL: 'http://user:pass@127.0.0.1:1' },
  )
})

it('refuses a port that another program has', async () => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  const port = String(boundPort(other))
  await expect(served.remora('dashboard', '--port', port)).rejects.toMatchObject({ code: 'CONFIG_006' })
  await closeServer(other)
})
