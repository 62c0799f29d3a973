import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { sha256 } from '#domain/ids.ts'
import { putArtifact } from '#store/objects/stored-records.ts'
import { testRedis, type TestRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { Problem } from '#schemas/problem-schema.ts'
import { AskReceived } from '#schemas/ask-schema.ts'
import { TokenCreated, TokenPage } from '#schemas/token-schema.ts'
import { openTestApi, runForm, tarOf, type TestApi } from './app.fixture.ts'
import { anItem, openConducted, playPlan } from './played-agenda.fixture.ts'
import { askingRun, composeRun, plannedOperation, playRun } from './played-run.fixture.ts'
import { endpoints } from './routes/reference/api-document.ts'
import { textOf } from './routes/events/event-frames.fixture.ts'

/** What one project has, by the names that addresses use. */
type Ids = Record<'run' | 'asking' | 'conducted' | 'ask' | 'operation' | 'node' | 'token' | 'project', string>
type Request = { path: string; init?: RequestInit }

const scopes = ['runs:read', 'runs:write', 'tokens:admin']
const secret = 'secret_of_alpha'
const json = (body: object, method = 'POST') => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

let server: TestRedis
let api: TestApi
let alpha: TestApi & { ids: Ids }
let beta: TestApi & { ids: Ids }
beforeAll(async () => {
  server = await testRedis()
  api = await openTestApi(server, await testObjects())
  alpha = await withRuns(await openProject(`${api.project}alpha`), secret)
  beta = await withRuns(await openProject(`${api.project}beta`), 'own_of_beta')
})
afterAll(() => api.close())

/** The API as the first token of a new project sees it. */
async function openProject(project: string): Promise<TestApi & { tokenId: string }> {
  await api.ask(`/v1/projects/${project}`, { method: 'PUT' })
  const answer = await api.ask('/v1/tokens', json({ project_id: project, scopes, name: `admin of ${project}` }))
  const { token, token_id: tokenId } = TokenCreated.parse(await answer.json())
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = new Headers(init.headers)
    headers.set('authorization', `Bearer ${token}`)
    return api.app.request(path, { ...init, headers })
  }
  return { ...api, token, tokenId, project, ask }
}

const namedPaths = ['projects', 'session', 'agents', 'workers', 'queues', 'github/installations', 'github/deliveries']
const plainPaths = [...namedPaths.map((name) => `/v1/${name}`), '/healthz', '/readyz', '/openapi.json', '/docs', '/']

/** Gives a project a run that has ended and one that asks; what they work on has `name` in it. */
async function withRuns(own: TestApi & { tokenId: string }, name: string): Promise<TestApi & { ids: Ids }> {
  const endings = [
    { name, changes: [{ kind: 'create' as const, path: `${name}.py`, content: `x = '${name}'\n` }] },
    { name: `failed_${name}`, fails: { code: 'AGENT_004', reason: name } },
    { name: `found_${name}`, leaves: name, finds: [{ claim: name }] },
  ]
  const run = await playRun(own, endings, { tree: { 'a.py': 'x = 1\n' } })
  await putArtifact(own.objects, { projectId: own.project, runId: run }, name)
  const resultHash = await api.blobs.put(own.project, Buffer.from(`x = '${name}'\n`))
  const file = { path: `${name}.py`, baseHash: null, resultHash, changeSetIds: [], evidence: [] }
  await composeRun(own, run, { files: [file] })
  const asking = await askingRun(own, { text: name, choices: null })
  const conducted = await openConducted(own, { objective: name, approval: 'plan' })
  await playPlan(own, conducted, [anItem({ item_id: 'lint', objective: name })], 'h1')
  for (const runId of [run, asking, conducted]) await api.ledger.tellEvents(runId)
  const asked = await own.ask(`/v1/runs/${run}/asks`, json({ text: name }))
  const { ask_id: ask } = AskReceived.parse(await asked.json())
  const { operationId, node } = plannedOperation(name)
  const runs = { run, asking, conducted }
  const ids = { ...runs, ask, operation: operationId, node: node.nodeId, token: own.tokenId, project: own.project }
  return { ...own, ids }
}

const unknown = (): Ids => ({
  run: 'r00000000000000000',
  asking: 'r00000000000000001',
  conducted: 'r00000000000000002',
  ask: 'a0000000000000000',
  operation: 'o0000000000000000',
  node: 'n0000000000000000',
  token: 't0000000000000000',
  project: `${api.project}gamma`,
})

const get = (path: string): Request[] => [{ path }]
const post = (path: string, body: object): Request[] => [{ path, init: json(body) }]

/** How each route is asked for what belongs to another project; a route without a line here fails the test. */
const asked: Record<string, (ids: Ids) => Request[] | Promise<Request[]>> = {
  'POST /v1/runs': async ({ node }) => {
    const form = runForm(await tarOf({ 'a.py': 'x = 1\n' }), { agents: ['lint'], nodes: [node] })
    return [{ path: '/v1/runs', init: { method: 'POST', body: form } }]
  },
  'GET /v1/runs': ({ run }) => [...get('/v1/runs?limit=100'), ...get(`/v1/runs?before=${run}`)],
  'GET /v1/runs/{run_id}': ({ run, asking }) => [...get(`/v1/runs/${run}`), ...get(`/v1/runs/${asking}`)],
  'POST /v1/runs/{run_id}/cancel': ({ asking }) => post(`/v1/runs/${asking}/cancel`, {}),
  'PUT /v1/runs/{run_id}/budget': ({ asking }) => [
    { path: `/v1/runs/${asking}/budget`, init: json({ tokens: 1 }, 'PUT') },
  ],
  'DELETE /v1/runs/{run_id}': ({ run, asking }) =>
    [run, asking].map((runId) => ({ path: `/v1/runs/${runId}`, init: { method: 'DELETE' } })),
  'POST /v1/runs/{run_id}/retry': ({ run, operation }) =>
    [{}, { operations: [operation] }].flatMap((body) => post(`/v1/runs/${run}/retry`, body)),
  'POST /v1/runs/{run_id}/result': ({ run }) => post(`/v1/runs/${run}/result`, {}),
  'GET /v1/runs/{run_id}/operations': ({ run }) => get(`/v1/runs/${run}/operations`),
  'GET /v1/runs/{run_id}/operations/{operation_id}': ({ run, operation }) =>
    get(`/v1/runs/${run}/operations/${operation}`),
  'GET /v1/runs/{run_id}/operations/{operation_id}/transcript': ({ run, operation }) => [
    ...get(`/v1/runs/${run}/operations/${operation}/transcript`),
    ...get(`/v1/runs/${run}/operations/${operation}/transcript?attempt=1`),
    { path: `/v1/runs/${run}/operations/${operation}/transcript`, init: { headers: { accept: 'text/event-stream' } } },
  ],
  'GET /v1/runs/{run_id}/plan': ({ run }) => get(`/v1/runs/${run}/plan`),
  'GET /v1/runs/{run_id}/nodes': ({ run }) =>
    ['', '?cursor=1'].flatMap((query) => get(`/v1/runs/${run}/nodes${query}`)),
  'GET /v1/runs/{run_id}/nodes/{node_id}': ({ run, node }) => get(`/v1/runs/${run}/nodes/${node}`),
  'GET /v1/runs/{run_id}/nodes/{node_id}/edges': ({ run, node }) => get(`/v1/runs/${run}/nodes/${node}/edges`),
  'GET /v1/runs/{run_id}/questions': ({ asking }) => get(`/v1/runs/${asking}/questions`),
  'POST /v1/runs/{run_id}/questions/{request_id}': ({ asking }) =>
    post(`/v1/runs/${asking}/questions/q1`, { answer: 'yes' }),
  'GET /v1/runs/{run_id}/events': ({ run, asking }) => [
    ...get(`/v1/runs/${run}/events?limit=1000`),
    ...get(`/v1/runs/${asking}/events?after=1`),
    { path: `/v1/runs/${run}/events`, init: { headers: { accept: 'text/event-stream', 'last-event-id': '1' } } },
  ],
  'GET /v1/events': () => get('/v1/events?after=0'),
  'GET /v1/runs/{run_id}/timeline': ({ run, asking }) => [
    ...get(`/v1/runs/${run}/timeline?category=worker_output,finding`),
    ...get(`/v1/runs/${asking}/timeline?required_milestones=run.started`),
  ],
  'GET /v1/runs/{run_id}/agenda': ({ conducted }) => get(`/v1/runs/${conducted}/agenda`),
  'GET /v1/runs/{run_id}/agenda/decisions/{seq}': ({ conducted }) => get(`/v1/runs/${conducted}/agenda/decisions/4`),
  'POST /v1/runs/{run_id}/messages': ({ conducted }) => post(`/v1/runs/${conducted}/messages`, { text: 'more' }),
  'POST /v1/runs/{run_id}/approval': ({ conducted }) => post(`/v1/runs/${conducted}/approval`, { plan_hash: 'h1' }),
  'POST /v1/runs/{run_id}/asks': ({ run }) => post(`/v1/runs/${run}/asks`, { text: 'Why?' }),
  'GET /v1/runs/{run_id}/asks/{ask_id}': ({ run, ask }) => get(`/v1/runs/${run}/asks/${ask}`),
  'GET /v1/runs/{run_id}/findings': ({ run, asking }) =>
    [`${run}/findings`, `${asking}/findings?agent=lint`].flatMap((path) => get(`/v1/runs/${path}`)),
  'GET /v1/runs/{run_id}/artifacts/{sha256}': ({ run }) => get(`/v1/runs/${run}/artifacts/${sha256(secret)}`),
  'GET /v1/runs/{run_id}/changes': ({ run, operation }) =>
    ['', `?operation_id=${operation}`].flatMap((query) => get(`/v1/runs/${run}/changes${query}`)),
  'POST /v1/runs/{run_id}/decisions': ({ run }) => post(`/v1/runs/${run}/decisions`, { where: {}, verdict: 'accept' }),
  'GET /v1/runs/{run_id}/patch': ({ run }) => get(`/v1/runs/${run}/patch`),
  'GET /v1/runs/{run_id}/patch/sets': ({ run }) => get(`/v1/runs/${run}/patch/sets`),
  'POST /v1/runs/{run_id}/commits': ({ run }) => post(`/v1/runs/${run}/commits`, {}),
  'GET /v1/runs/{run_id}/archive': ({ run }) => [
    ...get(`/v1/runs/${run}/archive`),
    ...get(`/v1/runs/${run}/archive?files=changed&side=after`),
    ...get(`/v1/runs/${run}/archive?files=all&side=before`),
  ],
  'POST /v1/tokens': ({ project }) => post('/v1/tokens', { project_id: project }),
  'GET /v1/tokens': ({ project }) => [...get('/v1/tokens'), ...get(`/v1/tokens?project_id=${project}`)],
  'DELETE /v1/tokens/{token_id}': ({ token }) => [{ path: `/v1/tokens/${token}`, init: { method: 'DELETE' } }],
  'PUT /v1/projects/{project_id}': ({ project }) => [{ path: `/v1/projects/${project}`, init: { method: 'PUT' } }],
  'GET /v1/projects/{project_id}/budget': ({ project }) => get(`/v1/projects/${project}/budget`),
  'PUT /v1/projects/{project_id}/budget': ({ project }) => [
    { path: `/v1/projects/${project}/budget`, init: json({ tokens_per_day: 1 }, 'PUT') },
  ],
  'GET /v1/usage': ({ project }) => [
    ...get('/v1/usage?by=agent'),
    ...get('/v1/usage?by=project'),
    ...get(`/v1/usage?project_id=${project}`),
  ],
  'POST /v1/runs/{run_id}/publish': ({ run, asking }) =>
    [run, asking].map((runId) => ({ path: `/v1/runs/${runId}/publish`, init: { method: 'POST' } })),
  'PUT /v1/github/installations/{installation_id}': ({ project }) => [
    { path: '/v1/github/installations/7', init: json({ project_id: project }, 'PUT') },
  ],
  'POST /webhooks/github': () => post('/webhooks/github', {}),
  'POST /v1/session': () => post('/v1/session', {}),
  'DELETE /v1/session': () => [{ path: '/v1/session', init: { method: 'DELETE' } }],
  ...Object.fromEntries(plainPaths.map((path) => [`GET ${path}`, () => get(path)])),
}

type Answer = { status: number; text: string }

/** What the project `beta` is answered, one for each request, each id in it replaced by its name. */
async function answersOn(route: string, ids: Ids): Promise<{ request: string; answer: Answer; told: Answer }[]> {
  const requests = (await asked[route]?.(ids)) ?? []
  expect(requests, `nobody asks ${route} for another project's`).not.toEqual([])
  const answers = requests.map(async ({ path, init }) => {
    const answer = await beta.ask(path, init)
    const text = await textOf(answer)
    const body = typeof init?.body === 'string' ? init.body : ''
    const names = Object.entries(ids).reduce((sum, [name, id]) => sum.replaceAll(id, `<${name}>`), text)
    return {
      request: `${path} ${body}`,
      answer: { status: answer.status, text },
      told: { status: answer.status, text: names },
    }
  })
  return Promise.all(answers)
}

const stateOf = async ({ ids, project }: { ids: Ids; project: string }) => ({
  runs: await Promise.all([ids.run, ids.asking, ids.conducted].map((runId) => api.ledger.getRun(runId))),
  listed: (await api.ledger.listRuns(project, { limit: 100 })).runs.length,
  budget: await api.ledger.readProjectBudget(project),
  tokens: [...(await api.tokenStore.readAll()).records.values()].filter((token) => token.projectId === project),
})

describe('a token of another project', () => {
  it.for(endpoints.map(({ method, path }) => `${method.toUpperCase()} ${path}`))(
    'is told the same of what exists as of what does not: %s',
    async (route) => {
      const before = await stateOf(alpha)
      const ofAlpha = await answersOn(route, alpha.ids)
      const ofNobody = await answersOn(route, unknown())
      // Runs of its own, but the other's operation, node, token and project.
      const { run, asking, conducted } = beta.ids
      const mixed = await answersOn(route, { ...alpha.ids, run, asking, conducted })
      for (const [at, { request, answer, told }] of ofAlpha.entries()) {
        expect(told.status, request).toBe(ofNobody[at]?.told.status)
        expect(told.status < 400 ? '' : told.text, request).toBe(told.status < 400 ? '' : ofNobody[at]?.told.text)
        expect(answer.status, request).toBeLessThan(500)
      }
      for (const { request, answer } of [...ofAlpha, ...mixed]) {
        expect(answer.text, request).not.toContain(secret)
        const untold = Object.values(alpha.ids).filter((id) => !request.includes(id))
        expect(untold.filter((id) => answer.text.includes(id))).toEqual([])
      }
      expect(await stateOf(alpha)).toEqual(before)
    },
  )
})

describe('a project', () => {
  it.for(Object.keys(asked).filter((route) => route.startsWith('GET /v1/runs')))(
    'finds what is its own by the same requests: %s',
    async (route) => {
      for (const { path, init } of (await asked[route]?.(alpha.ids)) ?? []) {
        const answer = await alpha.ask(path, init)
        expect([path, answer.status]).toEqual([path, 200])
        await answer.text()
      }
    },
  )

  it('does not share its idempotency keys', async () => {
    const headers = { 'idempotency-key': 'the-same-in-both' }
    const init = async () => ({ method: 'POST', body: runForm(await tarOf({ 'a.py': 'x = 1\n' })), headers })
    const Accepted = z.object({ run_id: z.string() })
    const [one, other] = [await alpha.ask('/v1/runs', await init()), await beta.ask('/v1/runs', await init())]
    const [first, second] = [Accepted.parse(await one.json()), Accepted.parse(await other.json())]
    expect(first.run_id).not.toBe(second.run_id)
    expect(Accepted.parse(await (await beta.ask('/v1/runs', await init())).json())).toEqual(second)
    const made = { ...json({ name: 'one' }), headers: { 'content-type': 'application/json', 'idempotency-key': 'k' } }
    const tokens = await Promise.all([alpha, beta].map(async (own) => (await own.ask('/v1/tokens', made)).json()))
    expect(new Set(tokens.map((token) => TokenCreated.parse(token).token)).size).toBe(2)
  })

  it('is created, and given its first token, by the operator alone', async () => {
    const refused = async (answer: Response) => Problem.parse(await answer.json())
    const operators = { status: 403, error_code: 'AUTH_002' }
    expect(await refused(await alpha.ask('/v1/projects/gamma', { method: 'PUT' }))).toMatchObject(operators)
    expect(await refused(await alpha.ask('/v1/tokens', json({ project_id: 'default' })))).toMatchObject(operators)
    const notMade = await refused(await api.ask('/v1/tokens', json({ project_id: 'notmade' })))
    expect(notMade).toMatchObject({ status: 404, error_code: 'PROJECT_001' })
    expect((await alpha.ask('/v1/tokens', json({ project_id: alpha.project }))).status).toBe(201)
    const again = await api.ask(`/v1/projects/${alpha.project}`, { method: 'PUT' })
    expect([again.status, await again.json()]).toMatchObject([200, { project_id: alpha.project }])
  })

  it('has its tokens managed by the operator, too, who sees whose cannot be read', async () => {
    const made = TokenCreated.parse(await (await beta.ask('/v1/tokens', json({ name: 'of beta' }))).json())
    const listed = TokenPage.parse(await (await api.ask(`/v1/tokens?project_id=${beta.project}`)).json()).tokens
    expect(listed.map(({ token_id: id }) => id)).toContain(made.token_id)
    expect((await api.ask(`/v1/tokens/${made.token_id}`, { method: 'DELETE' })).status).toBe(204)
    const redis = new Redis(server.url)
    await redis.hset(`${server.namespace}:{tokens}:records`, 'the hash of one', 'not JSON')
    await redis.quit()
    const unreadable = async (own: TestApi) => TokenPage.parse(await (await own.ask('/v1/tokens')).json()).unreadable
    const [damaged] = await unreadable(api)
    expect(await unreadable(beta)).toEqual([])
    const revoke = { method: 'DELETE' }
    expect((await beta.ask(`/v1/tokens/${damaged?.token_id}`, revoke)).status).toBe(404)
    expect((await api.ask(`/v1/tokens/${damaged?.token_id}`, revoke)).status).toBe(204)
  })

  it('cannot use up the tokens of the others', async () => {
    const { tokenStore: store } = api
    const base = { projectId: beta.project, name: '', scopes: [], createdAt: 1, expiresAt: null }
    for (let at = 0; at < 250; at += 1) {
      await store.add(`hash ${at}`, { ...base, tokenId: `t${at.toString(16).padStart(16, '0')}` })
    }
    expect(await (await beta.ask('/v1/tokens', json({}))).json()).toMatchObject({ error_code: 'INTAKE_003' })
    expect((await alpha.ask('/v1/tokens', json({}))).status).toBe(201)
    expect((await api.ask('/v1/tokens', json({ project_id: beta.project }))).status).toBe(201)
  })
})
