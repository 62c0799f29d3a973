import { OpenAPIHono } from '@hono/zod-openapi'
import { methodNotAllowed } from 'hono/method-not-allowed'
import { requestId } from 'hono/request-id'
import { failingChecks, type ReadyCheck } from '#platform/http-health.ts'
import type { Log } from '#platform/log.ts'
import { accessLog } from './http/access-log.ts'
import type { ApiEnv } from './http/api-env.ts'
import { bearerAuth, type AuthDeps } from './http/auth.ts'
import { methodNotAllowedProblem, problemHandler, unknownRoute } from './http/problem.ts'
import { refuseInput } from './http/refuse-input.ts'
import { securityHeaders } from './http/security-headers.ts'
import { intakeRoutes, type IntakeDeps } from './intake/intake-routes.ts'
import { steerRoutes, type SteerDeps } from './intake/steer-routes.ts'
import { probeEndpoints } from './probe-endpoints.ts'
import { referenceRoutes } from './reference/reference-routes.ts'
import { changeRoutes, type ChangeRouteDeps } from './review/change-routes.ts'
import { runRoutes, type RunRouteDeps } from './runs/run-routes.ts'
import { tokenRoutes, type TokenRouteDeps } from './tokens/token-routes.ts'
import { transcriptRoutes, type TranscriptRouteDeps } from './transcript/transcript-routes.ts'

export type AppDeps = {
  auth: AuthDeps
  log: Log
  isRedisReady(): boolean
  /** The stores the service cannot do without, by the name `/readyz` reports. */
  readyChecks: Readonly<Record<string, ReadyCheck>>
  intake: IntakeDeps & SteerDeps
  runs: RunRouteDeps
  changes: ChangeRouteDeps
  transcripts: TranscriptRouteDeps
  tokens: TokenRouteDeps
}

/** The HTTP API of contract.md §2. Opens nothing: `app.request()` serves a test without a port. */
export function createApp(deps: AppDeps): OpenAPIHono<ApiEnv> {
  const app = new OpenAPIHono<ApiEnv>({ defaultHook: refuseInput })
  app.use(requestId({ limitLength: 64 }), accessLog(deps.log), securityHeaders())
  app.onError(problemHandler(deps))
  app.notFound(unknownRoute)
  app.use('/v1/*', bearerAuth(deps.auth))
  app.use(methodNotAllowed({ app, onMethodNotAllowed: methodNotAllowedProblem }))
  app.openapi(probeEndpoints.live, (c) => c.json({ status: 'ok' } as const, 200))
  app.openapi(probeEndpoints.ready, async (c) => {
    const failing = await failingChecks(deps.readyChecks)
    if (failing.length === 0) return c.json({ status: 'ready' } as const, 200)
    return c.json({ status: 'not ready', failing } as const, 503)
  })
  app.route('/', referenceRoutes())
  app.route('/', intakeRoutes(deps.intake))
  app.route('/', steerRoutes(deps.intake))
  app.route('/', runRoutes(deps.runs))
  app.route('/', changeRoutes(deps.changes))
  app.route('/', transcriptRoutes(deps.transcripts))
  app.route('/', tokenRoutes(deps.tokens))
  return app
}
