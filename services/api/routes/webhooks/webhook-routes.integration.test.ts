import { randomUUID } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { Delivery } from '#code-hosts/delivery.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { until } from '#testing/until.ts'
import { Problem } from '#schemas/problem-schema.ts'
import { webhookExamples, webhookHeaders } from './webhook-examples.fixture.ts'
import { openTestApi, type TestApi, testWebhookSecret as secret } from '../../app.fixture.ts'
import { openSocket, parseAnswer } from '../../http/raw-request.fixture.ts'
import { serveApp, type ServedApp } from '../../http/serve-app.ts'

let api: TestApi
let served: ServedApp
const logged: string[] = []
beforeAll(async () => {
  api = await openTestApi(await testRedis(), await testObjects(), {
    webhookBodyMs: 3_000,
    writeLog: (line) => void logged.push(line),
  })
  served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
})
afterAll(async () => {
  await served.close()
  await api.close()
})

const push = JSON.stringify({
  ref: 'refs/heads/main',
  before: '0'.repeat(40),
  after: 'a'.repeat(40),
  forced: false,
  pusher: { name: 'octocat' },
  repository: { id: 1, name: 'shop', owner: { login: 'octocat' }, default_branch: 'main' },
  installation: { id: 7 },
  sender: { login: 'octocat', type: 'User' },
})

const signed = (body: string | Uint8Array, about: { event?: string; deliveryId?: string; secret?: string } = {}) =>
  webhookHeaders(body, { secret, event: 'push', deliveryId: randomUUID(), ...about })

const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) =>
  fetch(`${served.url}/webhooks/github`, { method: 'POST', body, headers })

const codeOf = async (answer: Response) => `${answer.status} ${Problem.parse(await answer.json()).error_code}`

/** The inbox, by the ids of the deliveries. */
async function kept(): Promise<Map<string, Delivery>> {
  const entries = await api.redis.xrange(`${api.namespace}:{github}:inbox`, '-', '+')
  const all = entries.map(([, [, text = '']]) => Delivery.parse(JSON.parse(text)))
  return new Map(all.map((delivery) => [delivery.deliveryId, delivery]))
}

const loose = z.record(z.string(), z.any())

describe('POST /webhooks/github', () => {
  it(
    'takes every payload that GitHub has sent to anybody, and keeps what somebody needs of it',
    { timeout: 120_000 },
    async () => {
      const examples = (await webhookExamples()).map((example) => ({ ...example, deliveryId: randomUUID() }))
      expect(examples.length).toBeGreaterThan(700)
      for (const { event, payload, deliveryId } of examples) {
        const body = JSON.stringify({ ...payload, example: deliveryId })
        const answer = await post(body, signed(body, { event, deliveryId }))
        expect([answer.status, await answer.json()], `${event} ${body.slice(0, 300)}`).toEqual([
          202,
          { delivery_id: deliveryId, status: 'taken' },
        ])
      }
      const deliveries = await kept()
      const kinds = new Set<string>()
      for (const { event, payload, deliveryId } of examples) {
        const delivery = deliveries.get(deliveryId)
        const { installation, sender, ref } = loose.parse(payload)
        expect(delivery).toMatchObject({
          event,
          installationId: installation?.id ?? null,
          sender: sender ? { login: sender.login } : null,
          body: event === 'push' ? { kind: 'push', ref } : {},
        })
        kinds.add(delivery?.body.kind ?? 'lost')
      }
      expect([...kinds].toSorted()).toEqual([
        'check_run',
        'check_suite',
        'comment',
        'installation',
        'other',
        'ping',
        'pull_request',
        'push',
        'repositories',
        'repository',
      ])
    },
  )

  it('says of a webhook that comes again that it was seen, and keeps it once', async () => {
    const deliveryId = randomUUID()
    const headers = signed(push, { deliveryId })
    const [first, ...others] = await Promise.all([post(push, headers), post(push, headers), post(push, headers)])
    const answers = await Promise.all([first, ...others].map(async (one) => [one?.status, await one?.json()]))
    expect(answers.filter(([status]) => status === 202)).toHaveLength(1)
    expect(answers.filter(([status]) => status === 200)).toHaveLength(2)
    expect(answers).toContainEqual([200, { delivery_id: deliveryId, status: 'seen' }])
    expect((await kept()).get(deliveryId)?.body).toMatchObject({ kind: 'push', ref: 'refs/heads/main' })
  })

  it('does not say whether the secret, the bytes or the form of a signature is wrong', async () => {
    const right = signed(push)
    const tampered = push.replace('refs/heads/main', 'refs/heads/evil')
    const bytes = Buffer.from(push)
    bytes[10] = 0xff
    const wrong = [
      post(push, signed(push, { secret: 'another-secret-of-20' })),
      post(tampered, right),
      post(new Uint8Array(bytes), signed(bytes)),
      post(push, { ...right, 'x-hub-signature-256': '' }),
      post(push, { ...right, 'x-hub-signature-256': 'sha256=00' }),
      post(push, { ...right, 'x-hub-signature-256': right['x-hub-signature-256']?.toUpperCase() ?? '' }),
      post('', signed('')),
      post('{"not json', { ...right }),
    ]
    const problems = await Promise.all(wrong.map(async (one) => Problem.parse(await (await one).json())))
    for (const problem of problems) expect(problem).toEqual(problems[0])
    expect(problems[0]).toMatchObject({ status: 401, error_code: 'INTAKE_004' })
    expect((await kept()).has(right['x-github-delivery'] ?? '')).toBe(false)
  })

  it('names what is wrong with a payload that is signed, and stores nothing of it', async () => {
    const without = (field: string) => JSON.stringify({ ...JSON.parse(push), [field]: undefined })
    const [noJson, list] = ['{"ref":', '[1]']
    const ownerless = push.replace('"owner":{"login":"octocat"},', '')
    const unnamed = push.replace('refs/heads/main', '')
    const bodies = [noJson, list, without('after'), without('repository'), unnamed, ownerless]
    const answers = await Promise.all(bodies.map((body) => post(body, signed(body))))
    const problems = await Promise.all(answers.map(async (one) => Problem.parse(await one.json())))
    expect(problems.map(({ error_code: code }) => code)).toEqual(bodies.map(() => 'INTAKE_008'))
    expect(problems.map(({ detail }) => detail.split(':')[0])).toEqual([
      'body',
      'body',
      'body.after',
      'body.repository',
      'body.ref',
      'body.repository.owner',
    ])
    const { 'x-github-event': _event, ...others } = signed(push)
    expect(await codeOf(await post(push, others))).toBe('422 INTAKE_008')
    expect(await codeOf(await post(push, signed(push, { deliveryId: '../../etc' })))).toBe('422 INTAKE_008')
    const other = `${push.slice(0, -1)},"of":"another event"}`
    expect((await post(other, signed(other, { event: 'constructor' }))).status).toBe(202)
    expect((await kept()).size).toBeGreaterThan(0)
  })

  it('names the setting of the App for a body that is a form, and takes none that is packed', async () => {
    const answer = await post(push, { ...signed(push), 'content-type': 'application/x-www-form-urlencoded' })
    const problem = Problem.parse(await answer.json())
    expect(problem).toMatchObject({ status: 415, error_code: 'HTTP_003' })
    expect(problem.detail).toContain('in the settings of the GitHub App')
    const packed = new Uint8Array(gzipSync(push))
    expect(await codeOf(await post(packed, { ...signed(packed), 'content-encoding': 'gzip' }))).toBe('415 HTTP_003')
  })

  it('takes 25 MB and not more, whether or not the length is announced', async () => {
    const padded = (bytes: number) => `${push.slice(0, -1)},"x":"${'x'.repeat(bytes - push.length - 7)}"}`
    const most = padded(25 * 1024 * 1024)
    expect((await post(most, signed(most))).status).toBe(202)
    const over = padded(25 * 1024 * 1024 + 1)
    expect(
      await codeOf(await api.app.request('/webhooks/github', { method: 'POST', body: over, headers: signed(over) })),
    ).toBe('413 INTAKE_003')
    const sent = await sendRaw(signed(over), { 'transfer-encoding': 'chunked' }, (write) => {
      for (let at = 0; at < over.length; at += 65_536) {
        const part = over.slice(at, at + 65_536)
        write(`${part.length.toString(16)}\r\n${part}\r\n`)
      }
    })
    expect(sent.status).toBe(413)
  })

  it('keeps nothing of a body that breaks off, and has no fault of its own', async () => {
    const headers = signed(push)
    const lines = Object.entries({ host: 'a', ...headers }).map(([name, value]) => `${name}: ${value}\r\n`)
    const before = logged.length
    for (const framing of [`content-length: ${push.length}\r\n\r\n`, 'transfer-encoding: chunked\r\n\r\n5\r\n']) {
      const socket = openSocket(served.url).resume()
      socket.write(`POST /webhooks/github HTTP/1.1\r\n${lines.join('')}${framing}`)
      socket.write(push.slice(0, 4), () => socket.destroy())
    }
    const since = (text: string) => logged.slice(before).filter((line) => line.includes(text))
    await until(() => since('"/webhooks/github"'), { holds: ({ length }) => length >= 2 })
    expect(since('"level":"error"')).toEqual([])
    expect((await kept()).has(headers['x-github-delivery'] ?? '')).toBe(false)
  })

  it('takes webhooks while strangers hold all the room for large bodies, which are refused in time', async () => {
    const stranger = () =>
      sendRaw(signed('', { secret: 'a-secret-of-a-stranger' }), { 'transfer-encoding': 'chunked' }, (write) =>
        write('5\r\nfirst\r\n'),
      )
    const held = Array.from({ length: 6 }, stranger)
    const bodies = Array.from({ length: 20 }, (_, at) => `${push.slice(0, -1)},"at":${at}}`)
    for (const one of bodies) expect((await post(one, signed(one))).status).toBe(202)
    const statuses = (await Promise.all(held)).map(({ status }) => status)
    expect(statuses.toSorted((one, other) => one - other)).toEqual([408, 408, 408, 408, 503, 503])
    const large = `${push.slice(0, -1)},"x":"${'x'.repeat(100_000)}"}`
    expect((await post(large, signed(large))).status).toBe(202)
  })

  it('is not there without a secret, and knows no other method', async () => {
    const unsigned = await openTestApi(await testRedis(), await testObjects(), { webhookSecret: undefined })
    const headers = signed(push)
    const answer = await unsigned.app.request('/webhooks/github', { method: 'POST', body: push, headers })
    expect(await codeOf(answer)).toBe('404 HTTP_001')
    await unsigned.close()
    expect(await codeOf(await fetch(`${served.url}/webhooks/github`))).toBe('405 HTTP_002')
  })
})

/** What comes back for a request whose body is written by hand. */
async function sendRaw(
  headers: Record<string, string>,
  framing: Record<string, string>,
  send: (write: (text: string) => void) => void,
) {
  const socket = openSocket(served.url)
  const answered = Promise.withResolvers<string>()
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString()
    if (text.includes('\r\n\r\n')) answered.resolve(text)
  })
  const lines = Object.entries({ host: 'a', ...headers, ...framing }).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.write(`POST /webhooks/github HTTP/1.1\r\n${lines.join('')}\r\n`)
  send((part) => void socket.write(part))
  return parseAnswer(await answered.promise.finally(() => socket.destroy()))
}
