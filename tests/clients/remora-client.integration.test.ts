import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { boundPort } from '#platform/http-health.ts'
import { anEvent } from '#testing/an-event.ts'
import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { until } from '#testing/until.ts'
import { openTestApi, tarOf, type TestApi } from '../../services/api/app.fixture.ts'
import { openWebSocket } from '../../services/api/routes/events/event-frames.fixture.ts'
import { serveApp, type ServedApp } from '../../services/api/http/serve-app.ts'
import { anItem, openConducted, playPlan, playStep } from '../../services/api/played-agenda.fixture.ts'
import { composeRun, playOperations, playRun, submitRun } from '../../services/api/played-run.fixture.ts'
import { openRemora, type RemoraClient } from '#client/remora-client.ts'

const one = { name: 'one', changes: [{ kind: 'create', path: 'one.py', content: 'x = 1\n' } as const] }
const asks = { name: 'asks', asks: { text: 'Which?', choices: ['a', 'b'] } }

let api: TestApi
let served: ServedApp
let client: RemoraClient
beforeAll(async () => {
  api = await openTestApi(await testRedis(), await testObjects())
  served = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
  client = openRemora({ url: served.url, token: api.token })
})
afterAll(async () => {
  await served.close()
  await api.close()
})

const archive = async () => new Blob([await tarOf({ 'a.py': 'x = 1\n' })])

async function ended(runId: string, ...endings: Parameters<typeof playOperations>[2]): Promise<void> {
  await playOperations(api, runId, endings)
  await composeRun(api, runId, { files: [] })
}

/** A proxy in front of the API that breaks each connection after so many bytes of answers, the first `times` times. */
async function cuttingProxy(bytes: number, times: number) {
  const open = new Set<Socket>()
  let cuts = 0
  const server: Server = createServer().on('connection', (near) => {
    const far = connect(Number(new URL(served.url).port), '127.0.0.1')
    let left = cuts < times ? bytes : Infinity
    open.add(near).add(far)
    near.on('error', () => far.destroy()).on('close', () => far.destroy())
    far.on('error', () => near.destroy()).on('close', () => near.destroy())
    near.on('data', (part) => far.write(part))
    far.on('data', (part) => {
      near.write(part.subarray(0, left))
      left -= part.length
      if (left > 0) return
      cuts += 1
      near.destroy()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async () => {
    for (const socket of open) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${boundPort(server)}`, cuts: () => cuts, close }
}

describe('the client of other programs', () => {
  it('starts a run and awaits it; a time that is up leaves the run going', async () => {
    const runId = await client.start({ agents: ['lint'], labels: { of: 'client' } }, await archive())
    expect(await client.await(runId, { timeoutMs: 300 })).toEqual({ kind: 'going_on' })
    expect(await client.status(runId)).toMatchObject({ status: 'queued', request: { labels: { of: 'client' } } })
    const awaited = client.await(runId)
    await ended(runId, one)
    expect(await awaited).toMatchObject({ kind: 'result', run: { status: 'completed', counts: { succeeded: 1 } } })
    expect(await client.await(runId, { timeoutMs: 0 })).toMatchObject({ kind: 'result' })
  })

  it('gives the result to the client that asks first, also again, and tells any other who has had it', async () => {
    const runId = await playRun(api, [one])
    await composeRun(api, runId, { files: [] })
    const other = openRemora({ url: served.url, token: api.token })
    const first = await client.await(runId)
    expect(first).toMatchObject({ kind: 'result', run: { status: 'completed' } })
    expect(await other.await(runId)).toEqual({
      kind: 'consumed',
      by: expect.stringMatching(/^environment\//),
      at: expect.stringMatching(/^20.*Z$/),
    })
    expect(await client.await(runId)).toEqual(first)
    expect(await other.status(runId)).toMatchObject({ status: 'completed' })
  })

  it('takes an archive piece by piece, and comes back with the ended run', async () => {
    const tar = await tarOf({ 'a.py': 'x = 1\n' })
    async function* pieces() {
      yield tar.subarray(0, 700)
      yield tar.subarray(700)
    }
    const before = api.jobs.length
    const run = client.run({ agents: ['lint'] }, pieces())
    await ended(await until(() => api.jobs[before]), one)
    expect(await run).toMatchObject({ status: 'completed' })
  })

  it('streams each event once and in order, also over connections that break in the middle of one', async () => {
    const runId = await playRun(api, [one])
    await composeRun(api, runId, { files: [] })
    const { seq } = await api.ledger.getRun(runId)
    const proxy = await cuttingProxy(2_000, 3)
    try {
      const frames = await Array.fromAsync(openRemora({ url: proxy.url, token: api.token }).stream(runId))
      const numbers = frames.flatMap((frame) => (frame.type === 'event' ? [frame.event.seq] : []))
      expect(numbers).toEqual(Array.from({ length: seq }, (_, at) => at + 1))
      expect(frames.at(-1)).toEqual({ type: 'end', run_id: runId, status: 'completed' })
      expect(proxy.cuts()).toBe(3)
    } finally {
      await proxy.close()
    }
  })

  it('has a megabyte of data whole in each way to read events', async () => {
    const runId = await submitRun(api)
    const argument = 'ß\n'.repeat(500_000)
    const called = anEvent({ event: 'tool.called', data: { turn: 1, call_id: 'c', arguments: argument } })
    const failed = anEvent({ event: 'run.failed', data: { error_code: 'STORE_003', reason: 'a test' } })
    const end = { from: [{ status: 'queued' }], to: { status: 'failed' }, command: 'end' } as const
    await api.ledger.move(runId, { ...end, events: [called, failed] })
    const at = `${served.url}/v1/runs/${runId}`
    const page = async (path: string) => {
      const answer = await fetch(`${at}/${path}`, { headers: { authorization: `Bearer ${api.token}` } })
      return answer.json()
    }
    const protocols = ['remora', `remora.bearer.${Buffer.from(api.token).toString('base64url')}`]
    const socket = await openWebSocket(`${at}/events`, protocols)
    const isWhole = { event: 'tool.called', data: { arguments: argument } }
    const isFrame = expect.objectContaining({
      event: expect.objectContaining({ data: expect.objectContaining(isWhole.data) }),
    })
    expect(await Array.fromAsync(client.stream(runId))).toContainEqual(isFrame)
    expect(await Array.fromAsync(socket.frames())).toContainEqual(isFrame)
    expect(await page('events')).toMatchObject({ events: [{}, isWhole, {}] })
    expect(await page('timeline')).toMatchObject({ entries: [{}, isWhole, {}] })
  })

  it('streams those of all runs from now on, also over connections that break', async () => {
    const proxy = await cuttingProxy(2_000, 2)
    try {
      const stream = openRemora({ url: proxy.url, token: api.token }).stream('all')
      await stream.next()
      const runId = await playRun(api, [one])
      const { seq } = await api.ledger.getRun(runId)
      await api.ledger.tellEvents(runId)
      const numbers: number[] = []
      for await (const frame of stream) {
        if (frame.type === 'event' && frame.event.run_id === runId) numbers.push(frame.event.seq)
        if (numbers.length === seq) break
      }
      expect(numbers).toEqual(Array.from({ length: seq }, (_, at) => at + 1))
      expect(proxy.cuts()).toBe(2)
    } finally {
      await proxy.close()
    }
  })

  it('gives a subscriber the events that it names, and nobody else waits for what does not come', async () => {
    const runId = await submitRun(api)
    const seen: string[] = []
    const names = ['operation.ended', 'run.completed'] as const
    const { closed } = client.subscribe(runId, names, (event) => void seen.push(event.event))
    const ending = client.waitFor(runId, 'operation.ended')
    const never = client.waitFor(runId, 'run.failed')
    expect(await client.waitFor(runId, 'operation.ended', { timeoutMs: 100 })).toBeUndefined()
    await ended(runId, one, { ...one, name: 'two' })
    expect(await ending).toMatchObject({ event: 'operation.ended', data: { status: 'succeeded' } })
    expect(await never).toBeUndefined()
    await closed
    expect(seen).toEqual(['operation.ended', 'operation.ended', 'run.completed'])
  })

  it('ends a subscription that is closed, and says what its handler threw', async () => {
    const runId = await submitRun(api)
    const quiet = client.subscribe(runId, ['run.completed'], () => {})
    quiet.close()
    await quiet.closed
    const { closed } = client.subscribe(runId, ['run.accepted'], () => {
      throw new Error('of the handler')
    })
    await expect(closed).rejects.toThrow('of the handler')
  })

  it('cancels, answers and decides', async () => {
    const runId = await playRun(api, [one, asks])
    const asked = await client.waitFor(runId, 'human_input.requested')
    const requestId = String(asked?.data['request_id'])
    await expect(client.answer(runId, requestId, 'c')).rejects.toMatchObject({ code: 'ASK_005', status: 422 })
    expect(await client.answer(runId, requestId, 'a')).toMatchObject({ status: 'answered', answer: 'a' })
    const decided = await client.decide(runId, { where: {}, verdict: 'accept' })
    expect(decided).toMatchObject({ made: 1, decisions: [{ verdict: 'accepted' }] })
    await client.cancel(runId, 'enough')
    expect(await client.status(runId)).toMatchObject({ cancel_requested: true })
  })

  it('shows the plan of an objective, approves it as it was shown, and adds to it', async () => {
    const runId = await openConducted(api, { objective: 'lint is clean', approval: 'plan' })
    await playPlan(api, runId, [anItem({ item_id: 'lint' })], 'h1')
    const { items, approval } = await client.agenda(runId)
    expect(items).toMatchObject([{ item_id: 'lint', status: 'waiting' }])
    await expect(client.approve(runId, 'h0')).rejects.toMatchObject({ code: 'RUN_011', status: 409 })
    await client.approve(runId, approval?.plan_hash ?? '')
    await client.say(runId, 'and quick')
    expect(await client.ask(runId, 'Why?', { timeoutMs: 700 })).toBeUndefined() // nobody answers here
    expect(await playStep(api, runId, (state) => state)).toMatchObject([
      { kind: 'approved', plan_hash: 'h1' },
      { kind: 'said', text: 'and quick' },
    ])
  })

  it('says what is wrong: no such run, no such token, nobody there, another program there', async () => {
    await expect(client.status('r0000000000000')).rejects.toMatchObject({ name: 'RemoraProblem', code: 'RUN_001' })
    await expect(Array.fromAsync(client.stream('r0000000000000'))).rejects.toMatchObject({ code: 'RUN_001' })
    const stranger = openRemora({ url: served.url, token: 'of-nobody' })
    await expect(stranger.status('r0000000000000')).rejects.toMatchObject({ code: 'AUTH_001', status: 401 })
    const nobody = openRemora({ url: 'http://127.0.0.1:1' })
    await expect(nobody.status('r1')).rejects.toMatchObject({ name: 'NoAnswer', message: /ECONNREFUSED/ })
    const other = openRemora({ url: served.url, fetch: () => new Response('<html>', { status: 502 }) })
    await expect(other.status('r1')).rejects.toMatchObject({ name: 'NoAnswer', status: 502 })
  })
})
