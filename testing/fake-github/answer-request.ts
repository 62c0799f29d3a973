import { type ApiOperation, apiDocument } from './github-document.ts'
import { type Answer, type Listing, Refusal, notFound, refuse } from './answers.ts'
import { type Viewer, allows, authenticate, granted, reaches } from './authenticate.ts'
import { answerGraphql } from './graphql.ts'
import type { RateLimits } from './rate-limits.ts'
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

/** One request, from credentials to an answer that GitHub could give. Its faults are violations, answered with 500. */
export async function answerRequest(host: Host, request: ApiRequest): Promise<Answer> {
  const { method, path } = request
  let viewer: Viewer = { kind: 'nobody' }
  let operation: ApiOperation | undefined
  let reply: Answer
  try {
    viewer = authenticate(host.world, request.headers['authorization'])
    operation = apiDocument().operation(method, path)
    reply = await answerAs({ host, request, viewer, operation })
  } catch (error) {
    if (!(error instanceof Refusal)) host.onViolation(`${method} ${path}: ${String(error)}`)
    reply = error instanceof Refusal ? error.answer : { status: 500, body: { message: String(error) } }
  }
  const fault = reply.bytes === undefined ? operation?.checkAnswer(reply.status, reply.body) : undefined
  if (fault !== undefined) {
    host.onViolation(`answer ${reply.status} of ${method} ${operation?.template}: ${fault}`)
    reply = { status: 500, body: { message: fault } }
  }
  return { ...reply, headers: { ...reply.headers, ...host.limits.headers(viewer) } }
}

type Asked = { host: Host; request: ApiRequest; viewer: Viewer; operation: ApiOperation | undefined }

async function answerAs({ host, request, viewer, operation }: Asked): Promise<Answer> {
  const { method, path, query } = request
  const { world, webhooks } = host
  const body: unknown = request.body.length === 0 ? undefined : JSON.parse(request.body.toString())
  if (path === '/graphql') return answerGraphql({ ...host, viewer }, body)
  host.limits.spend(viewer)
  if (operation === undefined) throw new Error('GitHub has no such operation')
  const route = host.routes.get(`${method} ${operation.template}`)
  if (route === undefined) throw new Error(`this fake GitHub lacks ${method} ${operation.template}`)
  const fault = operation.checkRequest(query, body)
  if (fault?.kind === 'limit') refuse(422, 'Invalid request.', { code: 'invalid', message: fault.reason })
  if (fault !== undefined) throw new Error(fault.reason)
  const { parameters } = operation
  const result = await handle(route, { world, webhooks, parameters, query, body, viewer })
  return 'items' in result ? pageOf(result, request, world.origin) : result
}

/** 401, 403 and 404 as GitHub tells them apart: what a token does not reach does not exist for it. */
async function handle(route: Route, call: Call): Promise<Answer | Listing> {
  const { world, viewer, parameters } = call
  if (route.for === 'anybody') return route.handle(call)
  if (route.for === 'app') {
    if (viewer.kind !== 'app') refuse(401, 'A JSON web token could not be decoded')
    return route.handle(call)
  }
  if (viewer.kind !== 'installation') return refuse(401, 'Bad credentials')
  const { token } = viewer
  const repository = findRepository(world, parameters['owner'] ?? '', parameters['repo'] ?? '') ?? notFound()
  if (!reaches(token, repository)) notFound()
  const enough = route.for.some((needs) =>
    Object.entries(needs).every(([name, level]) => allows(granted(token, name), level)),
  )
  if (!enough) refuse(403, 'Resource not accessible by integration')
  return route.handle({ ...call, repository, sender: appBot(world) })
}

function pageOf({ items }: Listing, { path, query }: ApiRequest, origin: string): Answer {
  const perPage = Number(query.get('per_page') ?? 30)
  const page = Number(query.get('page') ?? 1)
  const next = new URL(path, origin)
  for (const [name, value] of [...query, ['page', String(page + 1)] as const]) next.searchParams.set(name, value)
  const hasMore = items.length > page * perPage
  const body = items.slice((page - 1) * perPage, page * perPage)
  return { status: 200, body, ...(hasMore && { headers: { link: `<${next.href}>; rel="next"` } }) }
}
