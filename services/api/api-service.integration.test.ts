import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { z } from 'zod'
import { announceFindable } from '#bundles/findable-nodes.ts'
import { openLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { readMetric } from '#testing/metric-value.ts'
import { testRedis, type TestRedis } from '#testing/redis.ts'
import { freePorts } from '#testing/this-machine.ts'
import { startApi, type ApiService } from './api-service.ts'
import { runForm, tarOf } from './app.fixture.ts'
import { accessToken, type ApiConfig } from './api-config.ts'
import { testSigningKey } from '#testing/test-signer.ts'

const log = openLog({ service: 'api', level: 'silent' })
const token = 'token-of-this-service'
let redis: TestRedis
let agentsDir = ''
let api: ApiService

beforeAll(async () => {
  redis = await testRedis()
  agentsDir = await mkdtemp(join(tmpdir(), 'remora-agents-'))
  await mkdir(join(agentsDir, 'lint'))
  await writeFile(join(agentsDir, 'lint', 'bundle.yaml'), 'name: lint\n')
  api = await startApi(configWith(agentsDir), { log, redactor: openRedactor() })
})
afterAll(async () => {
  await api.close()
  await redis.close()
  await rm(agentsDir, { recursive: true })
})

function configWith(dir: string): ApiConfig {
  const s3 = inject('s3')
  if (s3 === undefined) throw new Error('the suite provides an S3')
  const { accessKeyId, secretAccessKey, ...place } = s3
  return {
    host: '127.0.0.1',
    port: 0,
    health: { host: '127.0.0.1', port: 0 },
    tokens: [accessToken(token)],
    signingKeys: [testSigningKey],
    agentsDir: dir,
    allowsSetups: false,
    github: { webhookSecret: undefined, host: 'github.com', hasPublisher: false },
    redisMemoryShare: 0.8,
    fullPrompts: true,
    maxUploadBytes: 1_000_000,
    maxUploads: 8,
    requestsPerSecond: 0,
    tokenLimits: { requestsPerMinute: null, runs: null },
    maxConnections: 100,
    traces: { endpoint: undefined, headers: {}, share: 0 },
    storage: {
      redisUrl: redis.url,
      events: { maxInlineBytes: 16_384 },
      s3: { ...place, credentials: { accessKeyId, secretAccessKey } },
    },
    namespace: redis.namespace,
  }
}

async function writeBundle(name: string, { kind, language }: { kind: string; language: string }): Promise<void> {
  await mkdir(join(agentsDir, name))
  const text = `name: ${name}
description: Writes.
node_kinds: [${kind}]
languages: [${language}]
initial_context: { system_prompt: a, node_context: b }
tools: [{ builtin: submit_result }]
`
  await writeFile(join(agentsDir, name, 'bundle.yaml'), text)
}

const Accepted = z.object({ links: z.object({ events: z.string() }) })
const headers = { authorization: `Bearer ${token}` }

describe('startApi', () => {
  it('asks each store once, though both of its ports are asked whether it is ready', async () => {
    const [port = 0] = await freePorts(1)
    const config = { ...configWith(agentsDir), health: { host: '127.0.0.1', port } }
    const watched = await startApi(config, { log, redactor: openRedactor() })
    const health = `http://127.0.0.1:${port}`
    const answers = await Promise.all([`${watched.url}/readyz`, `${health}/readyz`].map((url) => fetch(url)))
    const states = await Promise.all(answers.map((answer) => answer.json()))
    expect(states[0]).toEqual(states[1])
    expect(await readMetric(health, 'remora_store_request_seconds_count{request="ping",result="ok"}')).toBe(1)
    await watched.close()
  })

  it('ends a stream and goes when it is told to stop', async () => {
    const stopping = await startApi(configWith(agentsDir), { log, redactor: openRedactor() })
    const body = runForm(await tarOf({ 'a.py': 'x = 1\n' }))
    const answer = await fetch(`${stopping.url}/v1/runs`, { method: 'POST', body, headers })
    const { links } = Accepted.parse(await answer.json())
    const waiting = fetch(`${stopping.url}${links.events}`, { headers: { ...headers, accept: 'text/event-stream' } })
    const start = performance.now()
    await stopping.close()
    expect(performance.now() - start).toBeLessThan(5000)
    await waiting.catch(() => {}) // it may not have been taken in any more
    await expect(fetch(`${stopping.url}/healthz`)).rejects.toThrow('fetch failed')
  })

  it('refuses a node kind that no query pack has, of a bundle and of a request, and queues nothing', async () => {
    await writeBundle('poet', { kind: 'klass', language: 'pyton' })
    const client = new Redis(redis.url)
    await announceFindable(client, { nodeKinds: new Set(['class']), languages: new Set(['python']) }, redis.namespace)
    client.disconnect()
    const refusing = await startApi(configWith(agentsDir), { log, redactor: openRedactor() })
    const body = runForm(await tarOf({ 'a.py': 'x = 1\n' }), { agents: ['lint', 'poet'] })
    const answer = await fetch(`${refusing.url}/v1/runs`, { method: 'POST', body, headers })
    expect(answer.status).toBe(500)
    expect(await answer.json()).toMatchObject({
      error_code: 'AGENT_001',
      detail:
        'poet/bundle.yaml:3:14 no query pack finds nodes of kind klass; did you mean class?\n' +
        'poet/bundle.yaml:4:13 there is no language pyton; did you mean python?',
    })
    const own = runForm(await tarOf({ 'a.py': 'x = 1\n' }), { agents: ['lint'], node_kinds: ['class', 'klass'] })
    const refused = await fetch(`${refusing.url}/v1/runs`, { method: 'POST', body: own, headers })
    expect(refused.status).toBe(422)
    expect(await refused.json()).toMatchObject({
      error_code: 'INTAKE_008',
      detail: 'request.node_kinds.1: no query pack finds nodes of kind klass; did you mean class?',
    })
    const runs = await fetch(`${refusing.url}/v1/runs`, { headers })
    await refusing.close()
    expect(JSON.stringify(await runs.json())).not.toContain('poet')
  })

  it('does not start without its bundles', async () => {
    await expect(
      startApi(configWith(join(agentsDir, 'none')), { log, redactor: openRedactor() }),
    ).rejects.toMatchObject({ code: 'CONFIG_001' })
  })
})
