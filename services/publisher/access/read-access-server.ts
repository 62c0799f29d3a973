import { timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { requireGenuine } from '#domain/genuine-run.ts'
import { CodeHostBusy } from '#code-hosts/code-host-busy.ts'
import type { Installations } from '#code-hosts/installations.ts'
import { type ReadAccess, readAccessPath, ReadAccessRequest } from '#code-hosts/read-access.ts'
import { AppError, asAppError, undefinedOn } from '#domain/error.ts'
import { type RunId, sha256 } from '#domain/ids.ts'
import { parseJson } from '#domain/json.ts'
import { type CommitId, fullNameOf } from '#domain/repository-source.ts'
import { isEnded } from '#domain/run.ts'
import type { Ledger } from '#store/ledger/ledger.ts'
import { boundPort, closeServer } from '#platform/http-health.ts'
import type { Log } from '#platform/log.ts'
import type { GitHubApp } from '#code-hosts/github-client.ts'
import { openReads } from '#stages/publish/github/repository-reads.ts'

export type ReadAccessDeps = {
  app: Pick<GitHubApp, 'readToken' | 'clientFor'>
  apiUrl: string
  installations: Pick<Installations, 'find' | 'findRepository'>
  ledger: Pick<Ledger, 'getRun'>
  log: Pick<Log, 'info' | 'warn'>
}

const mostBytes = 4_096

/** Gives a token that only reads the run's repository, made for this request and kept nowhere. CONFIG_006 for a taken address. */
export async function openReadAccess(
  { host, port, secret }: { host: string; port: number; secret: string },
  deps: ReadAccessDeps,
): Promise<{ port: number; close(): Promise<void> }> {
  const app = new Hono()
  app.onError((error) => refusalOf(error, deps))
  app.use(async (c, next) => {
    if (!isSame(c.req.header('authorization') ?? '', `Bearer ${secret}`))
      throw new AppError('HOST_003', 'this is not the secret of the publisher (REMORA_PUBLISHER_SECRET)')
    await next()
  })
  app.post(readAccessPath, bodyLimit({ maxSize: mostBytes, onError: refuseLongBody }), async (c) => {
    const request = ReadAccessRequest.safeParse(parseJson(await c.req.text()))
    if (!request.success) throw new AppError('INTAKE_008', 'the body has no run_id')
    return c.json(await readAccess(request.data.run_id, request.data.commit, deps))
  })
  app.notFound(() => {
    throw new AppError('HTTP_001', 'no such address')
  })
  const answer = getRequestListener(app.fetch, { overrideGlobalObjects: false })
  const server = createServer({ requestTimeout: 10_000 }, (request, response) => void answer(request, response))
  server.listen(port, host)
  await once(server, 'listening').catch((cause: unknown) => {
    throw new AppError('CONFIG_006', `the address of the publisher cannot be used: ${String(cause)}`, { cause })
  })
  return { port: boundPort(server), close: () => closeServer(server) }
}

function refusalOf(error: unknown, { log }: Pick<ReadAccessDeps, 'log'>): Response {
  const fault = asAppError(error, 'HTTP_007')
  log.warn('no right to read was given', { error_code: fault.code, error: fault.message })
  const detail = error instanceof AppError ? fault.message : 'unexpected error'
  const headers = error instanceof CodeHostBusy ? { 'retry-after': String(Math.ceil(error.retryAfterMs / 1_000)) } : {}
  return Response.json({ error_code: fault.code, detail }, { status: fault.status, headers })
}

function refuseLongBody(): never {
  throw new AppError('INTAKE_003', `the body is longer than ${mostBytes} bytes`)
}

/** PUBLISH_005: nobody with the key has asked for the run. RUN_001: it has ended. HOST_002: the project has no such repository. */
async function readAccess(runId: RunId, known: CommitId | undefined, deps: ReadAccessDeps): Promise<ReadAccess> {
  const { app, apiUrl, ledger } = deps
  const run = await ledger.getRun(runId)
  const source = run.request.repository
  requireGenuine(run)
  if (source === undefined) throw new AppError('HOST_002', `the code of run ${runId} was uploaded`)
  if (isEnded(run.status)) throw new AppError('RUN_001', `run ${runId} has ended`)
  const { installationId, since } = source
  const installed = await deps.installations.findRepository(run.projectId, source.repository)
  const repository = installed ?? source.repository
  if (installed?.installationId !== installationId) {
    const why = 'the app is not installed for it any more, or its installation belongs to another project'
    throw new AppError('HOST_002', `${fullNameOf(repository)} cannot be read: ${why}`)
  }
  const of = { installationId, repository }
  const reads = openReads(await app.clientFor(of, { contents: 'read' }), repository)
  const commit = known ?? source.commit ?? (await reads.resolve(source.ref))
  const base =
    since?.commit === undefined ? undefined : await reads.resolve(since.commit).catch(undefinedOn('HOST_004'))
  const token = await app.readToken(of)
  const archiveOf = (sha: CommitId) => ({
    commit: sha,
    archive: {
      url: `${apiUrl}/repos/${fullNameOf(repository)}/tarball/${sha}`,
      headers: { authorization: `Bearer ${token}`, accept: 'application/vnd.github+json' },
    },
  })
  deps.log.info('gave the right to read', { run_id: runId, repository: fullNameOf(repository), commit })
  return { ...archiveOf(commit), base: base === undefined ? null : archiveOf(base) }
}

function isSame(left: string, right: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(left)), Buffer.from(sha256(right)))
}
