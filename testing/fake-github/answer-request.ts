import { createHash } from 'node:crypto'
import { type ApiOperation, apiDocument } from './github-document.ts'
import { type Answer, type Listing, Refusal, notFound, refuse } from './answers.ts'
import { type Viewer, allows, authenticate, granted, reaches } from './authenticate.ts'
import { answerGraphql } from './graphql.ts'
import { type RateLimits, rateLimitJson } from './rate-limits.ts'
import type { Call, Route } from './routes.ts'
import type { Webhooks } from './webhooks.ts'
import { type World, appBot, findRepository } from './world.ts'

export type Host = {
  world: World
  webhooks: Webhooks
  limits: RateLimits
  routes: Map<string, Route>
  /** Something that GitHub does not have, would not take, or would not answer. */
  onViolation(reason: string): void
}

export type ApiRequest = {
  method: string
  path: string
  query: URLSearchParams
  headers: Record<string, string | undefined>
  body: Buffer
}

export type Answered = Answer & { viewer: Viewer['kind']; operation?: string }

/** One request, from credentials to an answer that GitHub could give. Its faults are violations, answered with 500. */
export async function answerRequest(host: Host, request: ApiRequest): Promise<Answered> {
  let viewer: Viewer = { kind: 'nobody' }
  let operation: ApiOperation | undefined
  let reply: Answer
  try {
    if (!request.headers['user-agent']) refuse(403, 'Request forbidden by administrative rules.')
    viewer = authenticate(host.world, request.headers['authorization'])
    operation = apiDocument().operation(request.method, request.path)
    reply = await answerAs({ host, request, viewer, operation })
  } catch (error) {
    if (!(error instanceof Refusal)) host.onViolation(`${request.method} ${request.path}: ${String(error)}`)
    reply = error instanceof Refusal ? error.answer : { status: 500, body: { message: String(error) } }
  }
  const fault = reply.bytes === undefined ? operation?.checkAnswer(reply.status, reply.body) : undefined
  if (fault !== undefined) {
    host.onViolation(`answer ${reply.status} of ${request.method} ${operation?.template}: ${fault}`)
    reply = { status: 500, body: { message: fault } }
  }
  const headers = { ...reply.headers, ...host.limits.headers(viewer) }
  return {
    ...reply,
    headers,
    viewer: viewer.kind,
    ...(operation === undefined ? {} : { operation: operation.template }),
  }
}

type Asked = { host: Host; request: ApiRequest; viewer: Viewer; operation: ApiOperation | undefined }

async function answerAs({ host, request, viewer, operation }: Asked): Promise<Answer> {
  const { method, path, query } = request
  if (path === '/rate_limit') return { status: 200, body: rateLimitJson(host.limits, viewer) }
  if (path === '/graphql') return answerGraphql({ ...host, viewer }, parsedBody(request.body))
  host.limits.spend(viewer)
  if (operation === undefined) throw new Error('GitHub has no such operation')
  const route = host.routes.get(`${method} ${operation.template}`)
  if (route === undefined) throw new Error(`this fake GitHub lacks ${method} ${operation.template}`)
  const body = parsedBody(request.body)
  const fault = operation.checkRequest(query, body)
  if (fault?.kind === 'limit') refuse(422, 'Invalid request.', { errors: [{ code: 'invalid', message: fault.reason }] })
  if (fault !== undefined) throw new Error(fault.reason)
  const accept = request.headers['accept'] ?? ''
  const { world, webhooks } = host
  const call: Call = { world, webhooks, parameters: operation.parameters, query, body, accept, viewer }
  const result = await handle(route, call, method)
  const reply = 'items' in result ? pageOf(result, request, world.origin) : result
  return method === 'GET' && reply.status === 200 ? withEtag(reply, request, () => host.limits.refund(viewer)) : reply
}

function parsedBody(body: Buffer): unknown {
  if (body.length === 0) return undefined
  try {
    return JSON.parse(body.toString())
  } catch {
    return refuse(400, 'Problems parsing JSON')
  }
}

/** 401, 403 and 404 as GitHub tells them apart: what a token does not reach does not exist for it. */
async function handle(route: Route, call: Call, method: string): Promise<Answer | Listing> {
  const { world, viewer, parameters } = call
  if (route.for === 'anybody') return route.handle(call)
  if (route.for === 'app') {
    if (viewer.kind !== 'app') refuse(401, 'A JSON web token could not be decoded')
    return route.handle(call)
  }
  const repository = findRepository(world, parameters['owner'] ?? '', parameters['repo'] ?? '') ?? notFound()
  const sender = appBot(world)
  if (viewer.kind === 'app') refuse(401, 'Bad credentials')
  if (viewer.kind === 'nobody') {
    if (repository.private) notFound()
    if (method !== 'GET') refuse(401, 'Requires authentication')
    return route.handle({ ...call, repository, sender })
  }
  const { token } = viewer
  if (!reaches(token, repository)) notFound()
  const enough = route.for.some((needs) =>
    Object.entries(needs).every(([name, level]) => allows(granted(token, name), level)),
  )
  if (!enough) refuse(403, 'Resource not accessible by integration')
  return route.handle({ ...call, repository, sender })
}

const mostPerPage = 100

function pageOf({ items, wrap = (page) => page }: Listing, { path, query }: ApiRequest, origin: string): Answer {
  const perPage = Math.min(Math.max(Number(query.get('per_page') ?? 30), 1), mostPerPage)
  const page = Math.max(Number(query.get('page') ?? 1), 1)
  const last = Math.max(Math.ceil(items.length / perPage), 1)
  const at = (number: number, rel: string) => {
    const url = new URL(path, origin)
    for (const [name, value] of query) url.searchParams.set(name, value)
    url.searchParams.set('page', String(number))
    return `<${url.href}>; rel="${rel}"`
  }
  const links = [
    ...(page > 1 ? [at(page - 1, 'prev'), at(1, 'first')] : []),
    ...(page < last ? [at(page + 1, 'next'), at(last, 'last')] : []),
  ]
  const body = wrap(items.slice((page - 1) * perPage, page * perPage))
  return { status: 200, body, ...(links.length === 0 ? {} : { headers: { link: links.join(', ') } }) }
}

/** A 304 costs nothing of the budget. */
function withEtag(reply: Answer, { headers }: ApiRequest, refund: () => void): Answer {
  const hash = createHash('sha256').update(reply.bytes ?? JSON.stringify(reply.body))
  const etag = `W/"${hash.digest('hex')}"`
  const same = headers['if-none-match'] === etag
  if (same) refund()
  return same ? { status: 304, headers: { etag } } : { ...reply, headers: { ...reply.headers, etag } }
}
