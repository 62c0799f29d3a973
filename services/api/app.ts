import { Hono } from 'hono'
import { requestId } from 'hono/request-id'
import { secureHeaders } from 'hono/secure-headers'
import { failingChecks, type ReadyCheck } from '#platform/http-health.ts'
import type { Log } from '#platform/log.ts'
import type { ApiEnv } from './http/api-env.ts'
import { bearerAuth, type AccessToken } from './http/auth.ts'
import { problemHandler, unknownRoute } from './http/problem.ts'
import { intakeRoutes, type IntakeDeps } from './intake/intake-routes.ts'
import { steerRoutes, type SteerDeps } from './intake/steer-routes.ts'
import { changeRoutes, type ChangeRouteDeps } from './review/change-routes.ts'
import { runRoutes, type RunRouteDeps } from './runs/run-routes.ts'

export type AppDeps = {
  tokens: readonly AccessToken[]
  log: Log
  isRedisReady(): boolean
  /** The stores the service cannot do without, by the name `/readyz` reports. */
  readyChecks: Readonly<Record<string, ReadyCheck>>
  intake: IntakeDeps & SteerDeps
  runs: RunRouteDeps
  changes: ChangeRouteDeps
}

/** The HTTP API of contract.md §2. Opens nothing: `app.request()` serves a test without a port. */
export function createApp(deps: AppDeps): Hono<ApiEnv> {
  const app = new Hono<ApiEnv>()
  app.use(requestId({ limitLength: 64 }), secureHeaders())
  app.onError(problemHandler(deps))
  app.notFound(unknownRoute)
  app.get('/healthz', (c) => c.json({ status: 'ok' }))
  app.get('/readyz', async (c) => {
    const failing = await failingChecks(deps.readyChecks)
    return failing.length === 0 ? c.json({ status: 'ready' }) : c.json({ status: 'not ready', failing }, 503)
  })
  app.use('/v1/*', bearerAuth(deps.tokens))
  app.route('/v1/runs', intakeRoutes(deps.intake))
  app.route('/v1/runs', steerRoutes(deps.intake))
  app.route('/v1/runs', runRoutes(deps.runs))
  app.route('/v1/runs', changeRoutes(deps.changes))
  return app
}
