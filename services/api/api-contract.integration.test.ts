import { z, type RouteConfig } from '@hono/zod-openapi'
import { beforeAll, describe, expect, it } from 'vitest'
import { sha256 } from '#domain/ids.ts'
import { putArtifact } from '#store/objects/stored-records.ts'
import { getOrMake } from '#platform/cached-answers.ts'
import { Problem } from '#schemas/problem-schema.ts'
import { webhookHeaders } from './routes/webhooks/webhook-examples.fixture.ts'
import { runForm, tarOf, testWebhookSecret } from './app.fixture.ts'
import { RunAgenda } from '#schemas/agenda-schema.ts'
import { AskReceived } from '#schemas/ask-schema.ts'
import { anItem, openConducted, playPlan } from './played-agenda.fixture.ts'
import { askingRun, composeRun, plannedOperation, playRun, submitRun } from './played-run.fixture.ts'
import { apiDocument, endpoints } from './routes/reference/api-document.ts'
import { useTestApi } from './use-test-api.fixture.ts'
import { textOf } from './routes/events/event-frames.fixture.ts'

let runId: string
let tokenId: string
const api = useTestApi()
beforeAll(async () => {
  const endings = [
    { name: 'one', changes: [{ kind: 'create' as const, path: 'one.py', content: 'x = 1\n' }] },
    { name: 'two', fails: { code: 'AGENT_004', reason: 'turn limit of 12' } },
  ]
  runId = await playRun(api, endings, { tree: { 'a.py': 'x = 1\n' } })
  const evidence = [{ check: 'parses', path: 'one.py', ok: true, tool: 'tree-sitter', after: 0 }] as const
  const resultHash = await api.blobs.put(api.project, Buffer.from('x = 1\n'))
  const file = { path: 'one.py', baseHash: null, resultHash, changeSetIds: ['c1'], evidence: [...evidence] }
  await composeRun(api, runId, { files: [file] })
  const made = await api.ask('/v1/tokens', { method: 'POST' })
  tokenId = z.object({ token_id: z.string() }).parse(await made.json()).token_id
})

const routeOf = ({ method, path }: { method: string; path: string }) => `${method.toUpperCase()} ${path}`

async function plannedRun(): Promise<string> {
  const planned = await openConducted(api, { objective: 'lint is clean', approval: 'plan' })
  await playPlan(api, planned, [anItem({ item_id: 'lint' })], 'h1')
  return planned
}

const jsonHeaders = { 'content-type': 'application/json' }
const posted = (path: string, body: string) => ({ path, init: { method: 'POST', headers: jsonHeaders, body } })

const namedPaths = ['tokens', 'session', 'projects', 'agents', 'workers', 'queues', 'github/installations']
const plainPaths = [...namedPaths.map((name) => `/v1/${name}`), '/healthz', '/readyz', '/openapi.json', '/docs', '/']

/** How each endpoint is asked for a good answer; a new one without a line here fails the test. */
const asked: Record<string, () => Promise<{ path: string; init?: RequestInit }>> = {
  'POST /v1/runs': async () => ({
    path: '/v1/runs',
    init: { method: 'POST', body: runForm(await tarOf({ 'a.py': 'x = 1\n' })) },
  }),
  'GET /v1/runs': async () => ({ path: '/v1/runs?limit=100' }),
  'GET /v1/runs/{run_id}': async () => ({ path: `/v1/runs/${runId}` }),
  'POST /v1/runs/{run_id}/cancel': async () => ({
    path: `/v1/runs/${await submitRun(api)}/cancel`,
    init: { method: 'POST' },
  }),
  'PUT /v1/runs/{run_id}/budget': async () => ({
    path: `/v1/runs/${await askingRun(api)}/budget`,
    init: { method: 'PUT', headers: jsonHeaders, body: '{"tokens":1000}' },
  }),
  'DELETE /v1/runs/{run_id}': async () => {
    const ended = await playRun(api, [])
    await composeRun(api, ended, { files: [] })
    return { path: `/v1/runs/${ended}`, init: { method: 'DELETE' } }
  },
  'POST /v1/runs/{run_id}/retry': async () => ({ path: `/v1/runs/${runId}/retry`, init: { method: 'POST' } }),
  'POST /v1/runs/{run_id}/result': async () => {
    const ended = await playRun(api, [])
    await composeRun(api, ended, { files: [] })
    return { path: `/v1/runs/${ended}/result`, init: { method: 'POST' } }
  },
  'GET /v1/runs/{run_id}/operations': async () => ({ path: `/v1/runs/${runId}/operations` }),
  'GET /v1/runs/{run_id}/operations/{operation_id}': async () => ({
    path: `/v1/runs/${runId}/operations/${plannedOperation('two').operationId}`,
  }),
  'GET /v1/runs/{run_id}/operations/{operation_id}/transcript': async () => ({
    path: `/v1/runs/${runId}/operations/${plannedOperation('one').operationId}/transcript`,
  }),
  'GET /v1/runs/{run_id}/plan': async () => ({ path: `/v1/runs/${runId}/plan` }),
  'GET /v1/runs/{run_id}/nodes': async () => ({ path: `/v1/runs/${runId}/nodes` }),
  'GET /v1/runs/{run_id}/nodes/{node_id}': async () => ({
    path: `/v1/runs/${runId}/nodes/${plannedOperation('one').node.nodeId}`,
  }),
  'GET /v1/runs/{run_id}/nodes/{node_id}/edges': async () => ({
    path: `/v1/runs/${runId}/nodes/${plannedOperation('one').node.nodeId}/edges`,
  }),
  'GET /v1/runs/{run_id}/questions': async () => ({ path: `/v1/runs/${await askingRun(api)}/questions` }),
  'POST /v1/runs/{run_id}/questions/{request_id}': async () =>
    posted(`/v1/runs/${await askingRun(api)}/questions/q1`, '{"answer":"yes"}'),
  'GET /v1/runs/{run_id}/events': async () => ({ path: `/v1/runs/${runId}/events?limit=1000` }),
  'GET /v1/events': async () => {
    await api.ledger.tellEvents(runId)
    return { path: '/v1/events?after=0' }
  },
  'GET /v1/runs/{run_id}/timeline': async () => ({ path: `/v1/runs/${runId}/timeline` }),
  'GET /v1/runs/{run_id}/agenda': async () => ({ path: `/v1/runs/${await plannedRun()}/agenda` }),
  'GET /v1/runs/{run_id}/agenda/decisions/{seq}': async () => {
    const planned = await plannedRun()
    const { decisions } = RunAgenda.parse(await (await api.ask(`/v1/runs/${planned}/agenda`)).json())
    return { path: `/v1/runs/${planned}/agenda/decisions/${decisions[0]?.seq}` }
  },
  'POST /v1/runs/{run_id}/messages': async () =>
    posted(`/v1/runs/${await plannedRun()}/messages`, '{"text":"types, too"}'),
  'POST /v1/runs/{run_id}/approval': async () =>
    posted(`/v1/runs/${await plannedRun()}/approval`, '{"plan_hash":"h1"}'),
  'POST /v1/runs/{run_id}/asks': async () => posted(`/v1/runs/${runId}/asks`, '{"text":"Why?"}'),
  'GET /v1/runs/{run_id}/asks': async () => ({ path: `/v1/runs/${runId}/asks` }),
  'GET /v1/runs/{run_id}/asks/{ask_id}': async () => {
    const { path, init } = posted(`/v1/runs/${runId}/asks`, '{"text":"Why?"}')
    const { ask_id: askId } = AskReceived.parse(await (await api.ask(path, init)).json())
    return { path: `/v1/runs/${runId}/asks/${askId}` }
  },
  'GET /v1/runs/{run_id}/findings': async () => {
    const found = await playRun(api, [{ name: 'one', leaves: 'sound', finds: [{ claim: 'a fault', rule: 'r' }] }])
    return { path: `/v1/runs/${found}/findings` }
  },
  'GET /v1/runs/{run_id}/artifacts/{sha256}': async () => {
    await putArtifact(api.objects, { projectId: api.project, runId }, 'notes')
    return { path: `/v1/runs/${runId}/artifacts/${sha256('notes')}` }
  },
  'GET /v1/runs/{run_id}/changes': async () => ({ path: `/v1/runs/${runId}/changes` }),
  'POST /v1/runs/{run_id}/decisions': async () => {
    const changes = [{ kind: 'create' as const, path: 'b.py', content: 'b = 1\n' }]
    const changed = await playRun(api, [{ name: 'new', changes }])
    return posted(`/v1/runs/${changed}/decisions`, '{"where":{},"verdict":"accept","reason":"good"}')
  },
  'GET /v1/runs/{run_id}/patch': async () => ({ path: `/v1/runs/${runId}/patch` }),
  'GET /v1/runs/{run_id}/patch/sets': async () => ({ path: `/v1/runs/${runId}/patch/sets` }),
  'POST /v1/runs/{run_id}/commits': async () => ({ path: `/v1/runs/${runId}/commits`, init: { method: 'POST' } }),
  'GET /v1/runs/{run_id}/archive': async () => ({ path: `/v1/runs/${runId}/archive` }),
  'POST /v1/tokens': async () => ({
    path: '/v1/tokens',
    init: {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'all of it', scopes: ['tokens:admin'], expires_in_s: 3600 }),
    },
  }),
  'DELETE /v1/tokens/{token_id}': async () => ({ path: `/v1/tokens/${tokenId}`, init: { method: 'DELETE' } }),
  'PUT /v1/projects/{project_id}': async () => ({ path: '/v1/projects/shop', init: { method: 'PUT' } }),
  'GET /v1/projects/{project_id}/budget': async () => ({ path: `/v1/projects/${api.project}/budget` }),
  'PUT /v1/projects/{project_id}/budget': async () => ({
    path: `/v1/projects/${api.project}/budget`,
    init: { method: 'PUT', headers: jsonHeaders, body: '{"tokens_per_day":1000}' },
  }),
  'GET /v1/usage': async () => ({ path: '/v1/usage?by=agent' }),
  'POST /v1/runs/{run_id}/publish': async () => {
    await api.installations.note({ installationId: 7, projectId: api.project, account: 'octocat', isSuspended: false })
    await api.installations.addRepositories(7, [{ id: 1, owner: 'octocat', name: 'hello' }])
    const body = '{"agents":["lint"],"repository":{"url":"octocat/hello"}}'
    const init = { method: 'POST', headers: jsonHeaders, body }
    const { run_id: fetched } = z.object({ run_id: z.string() }).parse(await (await api.ask('/v1/runs', init)).json())
    return { path: `/v1/runs/${fetched}/publish`, init: { method: 'POST' } }
  },
  'PUT /v1/github/installations/{installation_id}': async () => ({
    path: '/v1/github/installations/7',
    init: { method: 'PUT', headers: jsonHeaders, body: '{"project_id":"default"}' },
  }),
  'POST /v1/session': async () => ({ path: '/v1/session', init: { method: 'POST' } }),
  'DELETE /v1/session': async () => ({ path: '/v1/session', init: { method: 'DELETE' } }),
  ...Object.fromEntries(plainPaths.map((path) => [`GET ${path}`, async () => ({ path })])),
  'GET /v1/github/deliveries': async () => ({ path: '/v1/github/deliveries?limit=10' }),
  'POST /webhooks/github': async () => {
    const body = '{"zen":"Design for failure."}'
    const headers = webhookHeaders(body, { secret: testWebhookSecret, event: 'ping', deliveryId: 'd1' })
    return { path: '/webhooks/github', init: { method: 'POST', body, headers } }
  },
}

function schemaOf(declared: RouteConfig['responses'][string] | undefined, type: string): z.ZodType | undefined {
  if (declared === undefined || !('content' in declared) || declared.content === undefined) return undefined
  const content = declared.content[type]
  return content !== undefined && 'schema' in content && content.schema instanceof z.ZodType
    ? content.schema
    : undefined
}

const tokens = new Map<string, Promise<string>>()

/** A token with every scope but this one, made once. */
async function tokenWithout(scope: string): Promise<string> {
  const scopes = ['runs:read', 'runs:write', 'tokens:admin'].filter((one) => one !== scope)
  const init = { method: 'POST', headers: jsonHeaders, body: JSON.stringify({ scopes }) }
  const made = async () => z.object({ token: z.string() }).parse(await (await api.ask('/v1/tokens', init)).json()).token
  return getOrMake(tokens, scope, made)
}

describe('every endpoint', () => {
  it('that is served is declared, and the other way round', () => {
    const served = api.app.routes
      .filter(({ method, path }) => method !== 'ALL' && !path.endsWith('*'))
      .map(({ method, path }) => routeOf({ method, path: path.replaceAll(/:(\w+)/g, '{$1}') }))
    expect([...new Set(served)].toSorted()).toEqual(endpoints.map(routeOf).toSorted())
  })

  it.for(endpoints.map((endpoint) => [routeOf(endpoint), endpoint] as const))(
    'answers as it declares: %s',
    async ([route, endpoint]) => {
      const { path, init } = (await asked[route]?.()) ?? { path: 'nobody asks it here' }
      const answer = await api.ask(path, init)
      const text = await textOf(answer)
      expect(Object.keys(endpoint.responses), text).toContain(String(answer.status))
      expect(answer.ok).toBe(true)
      if (answer.status === 204) return
      const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
      const schema = schemaOf(endpoint.responses[answer.status], type)
      const body: unknown = type === 'application/json' ? JSON.parse(text) : text
      expect(schema?.safeParse(body)).toMatchObject({ success: true })
    },
  )

  it.for(
    endpoints.filter(({ path }) => path.startsWith('/v1/')).map((endpoint) => [routeOf(endpoint), endpoint] as const),
  )('asks for its scope: %s', async ([, { method, path, security }]) => {
    const scope = z.string().min(1).parse(security?.[0]?.['bearer']?.[0])
    const headers = { authorization: `Bearer ${await tokenWithout(scope)}` }
    const answer = await api.app.request(path.replaceAll(/\{\w+\}/g, 'x'), { method: method.toUpperCase(), headers })
    const problem = Problem.parse(await answer.json())
    expect(problem).toMatchObject({ status: 403, error_code: 'AUTH_002' })
    expect(problem.detail).toContain(scope)
  })

  it('has a problem answer, of the schema of problems, for every code it declares', () => {
    for (const endpoint of endpoints) {
      for (const [status, answer] of Object.entries(endpoint.responses)) {
        if (Number(status) < 400 || endpoint.path === '/readyz') continue
        // Compared as one object: to look into each would take seconds.
        const isProblem = schemaOf(answer, 'application/problem+json') === Problem
        expect(isProblem, `${routeOf(endpoint)} ${status}`).toBe(true)
      }
    }
  })
})

describe('the document', () => {
  it('is OpenAPI 3.1, is given out without a token, and names each operation once', async () => {
    const given: unknown = await (await api.askAs('none', '/openapi.json')).json()
    expect(given).toEqual(JSON.parse(JSON.stringify(apiDocument())))
    const text = JSON.stringify(given)
    expect(given).toMatchObject({ openapi: '3.1.0', components: { securitySchemes: { bearer: { type: 'http' } } } })
    const ids = [...text.matchAll(/"operationId":"(\w+)"/g)].map(([, id]) => id)
    expect(new Set(ids).size).toBe(endpoints.length)
  })

  it('has patterns that a reader without flags takes as they are meant', () => {
    const patterns = [...JSON.stringify(apiDocument()).matchAll(/"pattern":("(?:[^"\\]|\\.)*")/g)].map(([, text]) =>
      z.string().parse(JSON.parse(text ?? '')),
    )
    expect(patterns.length).toBeGreaterThan(3)
    for (const pattern of patterns) {
      expect(() => new RegExp(pattern)).not.toThrow()
      expect(pattern, 'flags, or properties of characters').not.toMatch(/\/[a-z]+$|\\p/i)
    }
    const name = new RegExp(patterns.find((pattern) => pattern.includes('u0000')) ?? 'none')
    expect(['of CI', 'für 東京 🎉', ''].every((text) => name.test(text))).toBe(true)
    expect(['two\nlines', '\u0000', '\u0085'].some((text) => name.test(text))).toBe(false)
  })

  it('refers only to what it has', () => {
    const document = apiDocument()
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)].map(
      ([, name]) => name,
    )
    const known = Object.keys(document.components?.schemas ?? {})
    expect(refs.filter((name) => !known.includes(name ?? ''))).toEqual([])
    expect(known.filter((name) => !refs.includes(name))).toEqual([])
  })
})

describe('the page', () => {
  it('has nothing inline, and loads its files from here alone, without a token', async () => {
    const answer = await api.askAs('none', '/docs')
    const html = await answer.text()
    expect(answer.headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self'; /)
    expect(answer.headers.get('content-security-policy')).not.toMatch(/unsafe|https?:/)
    expect(html).not.toMatch(/<script>|<style|\son\w+=|style="|https?:\/\//i)
    const loaded = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path]) => path ?? '')
    const types = loaded.map(async (path) => {
      const { status, headers } = await api.askAs('none', `/${path}`)
      return `${status} ${headers.get('content-type')}`
    })
    const script = '200 text/javascript; charset=utf-8'
    expect(await Promise.all(types)).toEqual(['200 text/css; charset=utf-8', script, script])
    expect(await (await api.askAs('none', '/docs/start.js')).text()).toContain("url: 'openapi.json'")
  })

  it.for(['index.html', 'package.json', '..%2fpackage.json', 'constructor', ''])(
    'has no other file of its package: %s',
    async (name) => {
      const answer = await api.askAs('none', `/docs/${name}`)
      expect(Problem.parse(await answer.json())).toMatchObject({ status: 404, error_code: 'HTTP_001' })
    },
  )
})
