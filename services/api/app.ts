import { OpenAPIHono } from '@hono/zod-openapi'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { requestId } from 'hono/request-id'
import type { MiddlewareHandler } from 'hono'
import { matchedRoutes } from 'hono/route'
import type { Metrics } from '#platform/metrics/open-metrics.ts'
import type { Log } from '#platform/log.ts'
import type { Readiness } from '#platform/readiness.ts'
import type { Redactor } from '#platform/secrets/redactor.ts'
import { msSince } from '#platform/clock.ts'
import { pageRoutes } from '#platform/page-routes.ts'
import type { ApiEnv } from './http/api-env.ts'
import { type AuthDeps, bearerAuth } from './http/auth.ts'
import {
  methodNotAllowedProblem,
  problemHandler,
  refuseInput,
  securityHeaders,
  storeOutages,
  unknownRoute,
} from './http/problem.ts'
import { type IntakeDeps, intakeRoutes } from './routes/intake/intake-routes.ts'
import { type AgentRouteDeps, agentRoutes } from './routes/fleet/agent-routes.ts'
import { type WorkerRouteDeps, workerRoutes } from './routes/fleet/worker-routes.ts'
import { type UsageRouteDeps, usageRoutes } from './routes/usage/usage-routes.ts'
import { probeEndpoints } from './service-endpoints.ts'
import { type ChangeRouteDeps, changeRoutes } from './routes/review/change-routes.ts'
import { type AgendaRouteDeps, agendaRoutes } from './routes/agenda/agenda-routes.ts'
import { type AskRouteDeps, askRoutes } from './routes/asks/ask-routes.ts'
import { type RunRouteDeps, runRoutes } from './routes/runs/run-routes.ts'
import { type ProjectBudgetDeps, projectRoutes } from './routes/access/project-routes.ts'
import { type TokenRouteDeps, tokenRoutes } from './routes/access/token-routes.ts'
import { type GithubRouteDeps, githubRoutes } from './routes/github/github-routes.ts'
import { type WebhookRouteDeps, webhookRoutes } from './routes/webhooks/webhook-routes.ts'
import { type TranscriptRouteDeps, transcriptRoutes } from './routes/transcript/transcript-routes.ts'
import { referenceRoutes } from './routes/reference/reference-routes.ts'
import { sessionRoutes } from './routes/access/session-routes.ts'

export type AppDeps = {
  auth: AuthDeps
  log: Log
  redactor: Redactor
  metrics: Pick<Metrics, 'observe'>
  isRedisReady(): boolean
  /** Answers `/readyz`; the health port answers by the same, so that each part is asked once. */
  readiness: Readiness
  intake: IntakeDeps
  runs: RunRouteDeps
  agendas: AgendaRouteDeps & AskRouteDeps
  changes: ChangeRouteDeps
  transcripts: TranscriptRouteDeps
  tokens: TokenRouteDeps
  workers: WorkerRouteDeps & AgentRouteDeps
  webhooks: WebhookRouteDeps
  github: GithubRouteDeps
  usage: UsageRouteDeps & ProjectBudgetDeps
}

/** The HTTP API, as its OpenAPI document describes it. Opens nothing: `app.request()` serves a test without a port. */
export function createApp(deps: AppDeps): OpenAPIHono<ApiEnv> {
  const app = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInput })
  app.use(requestId({ limitLength: 64 }), accessLog(deps), securityHeaders())
  app.onError(problemHandler(deps))
  app.notFound(unknownRoute)
  const watchStores = storeOutages(deps.log)
  app.use('/webhooks/*', watchStores)
  app.use('/v1/*', watchStores, redactAnswers(deps.redactor), bearerAuth(deps.auth))
  app.use(methodNotAllowed({ app, onMethodNotAllowed: methodNotAllowedProblem }))
  app.openapi(probeEndpoints.live, (c) => c.json({ status: 'ok' } as const, 200))
  app.openapi(probeEndpoints.ready, async (c) => {
    const { status, parts } = await deps.readiness()
    return status === 'ready' ? c.json({ status, parts }, 200) : c.json({ status, parts }, 503)
  })
  app.route('/', pageRoutes())
  app.route('/', referenceRoutes())
  app.route('/', sessionRoutes())
  app.route('/', webhookRoutes(deps.webhooks))
  app.route('/', intakeRoutes(deps.intake))
  app.route('/', runRoutes(deps.runs))
  app.route('/', agendaRoutes(deps.agendas))
  app.route('/', askRoutes(deps.agendas))
  app.route('/', changeRoutes(deps.changes))
  app.route('/', transcriptRoutes(deps.transcripts))
  app.route('/', tokenRoutes(deps.tokens))
  app.route('/', projectRoutes(deps.usage))
  app.route('/', workerRoutes(deps.workers))
  app.route('/', agentRoutes(deps.workers))
  app.route('/', usageRoutes(deps.usage))
  app.route('/', githubRoutes(deps.github))
  return app
}

/** Logs the pattern of the route, never the address: its query may hold private data. Probes are not measured. */
function accessLog({ log, metrics }: Pick<AppDeps, 'log' | 'metrics'>): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    const start = performance.now()
    await next()
    const route = routeOf(context.req.path, matchedRoutes(context))
    const caller: ApiEnv['Variables']['caller'] | undefined = context.get('caller')
    const isProbe = route === '/healthz' || route === '/readyz'
    const write = isProbe ? log.debug : log.info
    const { method } = context.req
    const { status } = context.res
    const ms = msSince(start)
    const labels = { method, route: route ?? 'unknown', status: String(status) }
    if (!isProbe) metrics.observe('remora_http_request_seconds', labels, ms / 1000)
    write('request', {
      method,
      route,
      status,
      ms,
      request_id: context.get('requestId'),
      project: caller?.projectId ?? null,
      token: caller?.tokenId ?? null,
    })
  }
}

/** Hides secrets in answers of JSON or Markdown. The patch has the bytes of the repository; events are read redacted. */
function redactAnswers(redactor: Redactor): MiddlewareHandler<ApiEnv> {
  return async (context, next) => {
    await next()
    // A new token is shown this once; commits are made of the bytes of the repository, like the patch.
    if (context.req.method === 'POST' && context.req.path === '/v1/tokens') return
    if (context.res.status === 200 && /^\/v1\/runs\/[^/]+\/commits$/.test(context.req.path)) return
    const type = context.res.headers.get('content-type') ?? ''
    const redact = /^application\/(?:problem\+)?json\b/.test(type) ? redactor.json : redactor.text
    if (redact === redactor.text && !type.startsWith('text/markdown')) return
    context.res = new Response(redact(await context.res.text()), context.res)
  }
}

/** Middlewares are among the routes, with patterns that end in `*`. */
function routeOf(path: string, routes: readonly { path: string }[]): string | null {
  return routes.findLast((route) => !route.path.endsWith('*'))?.path ?? (path.startsWith('/v1/') ? '/v1/*' : null)
}
