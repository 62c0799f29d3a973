import { once } from 'node:events'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Command } from 'commander'
import { Hono } from 'hono'
import { proxy } from 'hono/proxy'
import { secureHeaders } from 'hono/secure-headers'
import { AppError, asAppError } from '#domain/error.ts'
import { withoutLogin } from '#platform/hide-secrets.ts'
import { boundPort, closeServer } from '#platform/http-health.ts'
import { pageRoutes } from '#platform/page-routes.ts'
import type { CliContext } from '../cli-context.ts'
import { runningService } from '../run/reach-service.ts'
import { pageLink } from '../show-page.ts'
import { portNumber } from './shared-options.ts'

type DashboardOptions = { port: number; json?: true }

/** `remora dashboard`, or `remora-dashboard`: serves the page on this machine for a service that runs elsewhere. */
export function addDashboardCommand(command: Command, context: CliContext): void {
  command
    .option('--port <port>', 'port of the page on this machine; 0 takes a free one', portNumber, 8430)
    .option('--json', 'print one JSON line when ready')
    .action((options: DashboardOptions) => showDashboard(options, context))
}

async function showDashboard({ port, json }: DashboardOptions, context: CliContext): Promise<void> {
  const { io, signal } = context
  const { page: service } = await runningService(context)
  const page = await servePage(service.url, port)
  try {
    const link = pageLink({ url: page.url, token: service.token })
    io.out(json ? `${JSON.stringify({ url: page.url, link })}\n` : `look at ${withoutLogin(service.url)}: ${link}\n`)
    if (!signal.aborted) await once(signal, 'abort')
  } finally {
    await page.close()
  }
}

const host = '127.0.0.1'

/** Serves the page and passes what it asks on to `service`. CONFIG_006 for a port that cannot be had. */
async function servePage(service: string, port: number): Promise<{ url: string; close(): Promise<void> }> {
  const answer = getRequestListener(pageOf(service).fetch)
  const server = createServer((request, response) => void answer(request, response))
  server.listen(port, host)
  await once(server, 'listening').catch((cause: unknown) => {
    throw new AppError('CONFIG_006', `port ${port} cannot be had (${String(cause)}): --port names another`, { cause })
  })
  return {
    url: `http://${host}:${boundPort(server)}`,
    close: async () => {
      server.closeAllConnections() // a page that is looked at keeps a stream open
      await closeServer(server)
    },
  }
}

/** A service behind a proxy is found by its own name. */
async function sendOn(request: Request): Promise<Response> {
  request.headers.delete('host')
  return fetch(request)
}

function pageOf(service: string): Hono {
  const app = new Hono()
  app.use(secureHeaders({ overwrite: false }))
  app.route('/', pageRoutes())
  app.all('/v1/*', (c) => {
    const { pathname, search } = new URL(c.req.url)
    const target = new URL(`${service}${pathname}${search}`)
    target.username = target.password = ''
    return proxy(target, { raw: c.req.raw, redirect: 'manual', customFetch: sendOn }).catch((cause: unknown) => {
      throw new AppError('CONFIG_006', `The service at ${withoutLogin(service)} does not answer.`, { cause })
    })
  })
  app.onError((error) => {
    const { code, message: detail } = asAppError(error, 'HTTP_007')
    const status = code === 'CONFIG_006' ? 502 : 404
    return Response.json({ title: 'the page cannot have this', status, detail, error_code: code }, { status })
  })
  return app
}
