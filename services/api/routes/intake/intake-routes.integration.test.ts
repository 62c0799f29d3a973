import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { serveApp, type ServedApp } from '../../http/serve-app.ts'
import { runForm, tarOf } from '../../app.fixture.ts'
import { useTestApi } from '../../use-test-api.fixture.ts'

let served: ServedApp
const api = useTestApi({ maxUploadBytes: 50_000 })
beforeAll(async () => {
  served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1000 })
})
afterAll(() => served.close())

const Accepted = z.object({ run_id: z.string(), status: z.literal('queued'), links: z.record(z.string(), z.string()) })

async function post(form: FormData, headers: Record<string, string> = {}): Promise<Response> {
  const authorization = `Bearer ${api.token}`
  return fetch(`${served.url}/v1/runs`, { method: 'POST', body: form, headers: { authorization, ...headers } })
}

async function accepted(answer: Response) {
  expect(answer.status).toBe(202)
  return Accepted.parse(await answer.json())
}

async function runCount(): Promise<number> {
  return (await api.ledger.listRuns(api.project, { limit: 100 })).runs.length
}

describe('POST /v1/runs', () => {
  it('stores the archive, makes the run and queues its snapshot', async () => {
    const archive = await tarOf({ 'a.py': 'x = 1\n' })
    const trace = '00-0af7651916cd43dd8448eb211c80319c'
    const traceparent = `${trace}-b7ad6b7169203331-01`
    const { run_id: runId, links } = await accepted(await post(runForm(archive), { traceparent }))
    const run = await api.ledger.getRun(runId)
    expect(run).toMatchObject({ projectId: api.project, status: 'queued', request: { agents: ['lint'] } })
    expect(run.traceparent).toMatch(new RegExp(`^${trace}-(?!b7ad6b7169203331)[0-9a-f]{16}-01$`))
    expect(Buffer.from(await api.objects.get(run.uploadKey)).equals(archive)).toBe(true)
    expect(api.jobs).toContain(runId)
    expect((await api.ask(links['self'] ?? '')).status).toBe(200)
    const [first] = await api.ledger.readEvents(runId, { after: 0, limit: 10 })
    expect(first).toMatchObject({ seq: 1, event: 'run.accepted', origin: { kind: 'api' } })
  })

  it('takes the archive before the request', async () => {
    const archive = await tarOf({ 'first.py': 'x = 1\n' })
    const { run_id: runId } = await accepted(await post(archiveFirst(runForm(archive))))
    const run = await api.ledger.getRun(runId)
    expect(run).toMatchObject({ status: 'queued', request: { agents: ['lint'] } })
    expect(Buffer.from(await api.objects.get(run.uploadKey)).equals(archive)).toBe(true)
    expect(api.jobs).toContain(runId)
  })

  describe.for([
    ['the request first', (form: FormData) => form],
    ['the archive first', archiveFirst],
  ] as const)('with %s', ([, ordered]) => {
    it.for([
      ['something that is no archive', runForm(new Uint8Array(5000).fill(65)), 422, 'INTAKE_001'],
      ['an archive over the limit', runForm(gzipLike(60_000)), 413, 'INTAKE_003'],
      ['an upload that says it is far over the limit', runForm(gzipLike(4_000_000)), 413, 'INTAKE_003'],
      ['an agent nobody knows', runForm(gzipLike(10), { agents: ['nobody'] }), 422, 'INTAKE_006'],
      ['no agent', runForm(gzipLike(10), {}), 422, 'INTAKE_008'],
      ['a field nobody knows', runForm(gzipLike(10), { agents: ['lint'], colour: 'red' }), 422, 'INTAKE_008'],
      ['a path of Windows', runForm(gzipLike(10), { agents: ['lint'], paths: ['C:\\x'] }), 422, 'INTAKE_008'],
      ['a label with NUL', runForm(gzipLike(10), { agents: ['lint'], labels: { a: '\0' } }), 422, 'INTAKE_008'],
      ['a form without a request', only('archive'), 422, 'INTAKE_008'],
      ['a form without an archive', only('request'), 422, 'INTAKE_008'],
      ['two archives', withSecond('archive'), 422, 'INTAKE_008'],
      ['two requests', withSecond('request'), 422, 'INTAKE_008'],
    ] as const)('refuses %s and leaves nothing behind', async ([, form, status, code]) => {
      const before = [await runCount(), api.jobs.length, await uploads()]
      for (const headers of [{}, { 'idempotency-key': 'refused' }]) {
        const answer = await post(ordered(form), headers)
        expect(answer.status).toBe(status)
        expect(await answer.json()).toMatchObject({ status, error_code: code })
      }
      expect([await runCount(), api.jobs.length, await uploads()]).toEqual(before)
    })
  })

  it('gives the same run to the same body under the same key in the other order', async () => {
    const form = runForm(await tarOf({ 'order.py': 'x = 2\n' }))
    const headers = { 'idempotency-key': 'either-order' }
    const first = await accepted(await post(archiveFirst(form), headers))
    const before = [await runCount(), await uploads()]
    expect(await accepted(await post(form, headers))).toEqual(first)
    expect(await accepted(await post(archiveFirst(form), headers))).toEqual(first)
    const other = await post(archiveFirst(runForm(await tarOf({ 'order.py': 'x = 3\n' }))), headers)
    expect(await other.json()).toMatchObject({ error_code: 'INTAKE_005' })
    expect([await runCount(), await uploads()]).toEqual(before)
  })

  it('refuses another archive, and another request, under the same key', async () => {
    const archive = await tarOf({ 'c.py': 'x = 3\n' })
    const headers = { 'idempotency-key': 'other' }
    await accepted(await post(runForm(archive), headers))
    const others = [runForm(await tarOf({ 'c.py': 'x = 4\n' })), runForm(archive, { agents: ['docstring'] })]
    for (const form of others) {
      const answer = await post(form, headers)
      expect(answer.status).toBe(422)
      expect(await answer.json()).toMatchObject({ error_code: 'INTAKE_005' })
    }
  })

  it('makes one run when the same body comes many times at once', async () => {
    const archive = await tarOf({ 'd.py': 'x = 5\n' })
    const runs = await runCount()
    const sent = Array.from({ length: 6 }, () => post(runForm(archive), { 'idempotency-key': 'at-once' }))
    const answers = await Promise.all((await Promise.all(sent)).map(accepted))
    expect(new Set(answers.map((answer) => answer.run_id)).size).toBe(1)
    expect(await runCount()).toBe(runs + 1)
    expect(await api.objects.exists(`projects/${api.project}/uploads/${answers[0]?.run_id}`)).toBe(true)
  })

  it('makes a run of its own of each body without a key', async () => {
    const archive = await tarOf({ 'e.py': 'x = 6\n' })
    const first = await accepted(await post(runForm(archive)))
    expect((await accepted(await post(runForm(archive)))).run_id).not.toBe(first.run_id)
  })
})

/** Keys of the stored uploads. */
async function uploads(): Promise<string[]> {
  const listed = await Array.fromAsync(api.objects.list(`projects/${api.project}/uploads/`))
  return listed.map(({ key }) => key)
}

function archiveFirst(form: FormData): FormData {
  const reversed = new FormData()
  for (const [name, value] of [...form].toReversed()) reversed.append(name, value)
  return reversed
}

/** A form with one of its two parts. */
function only(part: 'request' | 'archive'): FormData {
  const form = runForm(gzipLike(10))
  form.delete(part === 'request' ? 'archive' : 'request')
  return form
}

/** A form with the two parts and another of one of them. */
function withSecond(part: 'request' | 'archive'): FormData {
  const form = runForm(gzipLike(10))
  for (const value of form.getAll(part)) form.append(part, value)
  return form
}

/** Bytes that begin as gzip does: intake looks no deeper. */
function gzipLike(length: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  bytes.set([0x1f, 0x8b, 8])
  return bytes
}
