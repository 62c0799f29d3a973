import { createAppAuth } from '@octokit/auth-app'
import { Octokit } from '@octokit/core'
import { paginateRest } from '@octokit/plugin-paginate-rest'
import { throttling } from '@octokit/plugin-throttling'
import { z } from 'zod'
import { AppError, type ErrorCode } from '#domain/error.ts'
import type { HostedRepository } from '#domain/repository-source.ts'
import type { Log } from '#platform/log.ts'
import { CodeHostBusy, retryAfterIn } from './code-host-busy.ts'

const Client = Octokit.plugin(throttling, paginateRest)
export type GitHubClient = InstanceType<typeof Client>

export type GitHubAppOptions = {
  appId: string
  privateKey: string
  apiUrl: string
  log: Pick<Log, 'debug' | 'warn'>
  /** It replaces Octokit's pauses of 1 to 3 s, so that a test need not wait. */
  pace?: { retryAfterBaseValue?: number }
  requestMs?: number
  /** It gets undefined where no response came in time. `of`: whose limit counts, an installation's id or `app`. */
  onAnswer?: ((of: string, response: Response | undefined) => void) | undefined
}

type Permissions = Partial<Record<'contents' | 'pull_requests' | 'checks' | 'issues' | 'workflows', 'read' | 'write'>>

type Asked = { method: RequestMethod; url: string; headers?: Record<string, string> }
type RequestMethod = 'DELETE' | 'GET' | 'HEAD' | 'PATCH' | 'POST' | 'PUT'

type OfInstallation = { installationId: number; repository: Pick<HostedRepository, 'id'> }

export type GitHubApp = ReturnType<typeof openGitHubApp>

/** A request waits so long for a limit to pass; what has to wait longer fails with HOST_001, and comes again. */
const mostWaitS = 60
/** A limit whose end GitHub does not tell counts for so long. */
const usualLimitMs = 60_000
const usualRequestMs = 30_000

/** The key of the app stays here: everything else gets tokens for one repository, which GitHub ends after an hour. */
export function openGitHubApp({ appId, privateKey, apiUrl, log, pace, requestMs, onAnswer }: GitHubAppOptions) {
  // Limits are those of each installation, and so are the pauses.
  const optionsFor = (id: string) => ({
    baseUrl: apiUrl,
    throttle: { id, ...throttleOf(log), ...pace },
    log: quiet,
    request: { fetch: fetchWithin(requestMs, (response) => onAnswer?.(id, response)) },
  })
  // As container platforms hand out files: on one line.
  const key = privateKey.replaceAll('\\n', '\n')
  const heedLimits = openLimits(pace)
  const auth = { appId, privateKey: key }
  const app = heedLimits('app', new Client({ ...optionsFor('app'), authStrategy: createAppAuth, auth }))
  const tokenFor = async (
    { installationId, repository }: OfInstallation,
    permissions: Permissions,
    refresh = false,
  ) => {
    const wanted = { type: 'installation', installationId, repositoryIds: [repository.id], permissions, refresh }
    const made = app.auth(wanted).catch((cause: unknown) => {
      throw tokenFault(cause)
    })
    return TokenAnswer.parse(await made).token
  }
  return {
    app,
    /** Nobody else has this token. */
    readToken: (of: OfInstallation) => tokenFor(of, { contents: 'read' }, true),
    /** It sends no write once `signal` is aborted. A token that GitHub has ended is replaced once. */
    async clientFor(of: OfInstallation, permissions: Permissions, signal?: AbortSignal): Promise<GitHubClient> {
      let token = await tokenFor(of, permissions)
      const hook = async (request: GitHubClient['request'], options: Asked): Promise<unknown> => {
        if (options.method !== 'GET') signal?.throwIfAborted()
        const asWith = () => ({ ...options, headers: { ...options.headers, authorization: `token ${token}` } })
        try {
          return await request(asWith())
        } catch (error) {
          if (statusOf(error) !== 401) throw error
          token = await tokenFor(of, permissions, true)
          return request(asWith())
        }
      }
      const authStrategy = () => ({ hook })
      const id = String(of.installationId)
      return heedLimits(id, new Client({ ...optionsFor(id), authStrategy }))
    },
  }
}

/** Until a limit ends, all requests of its installation fail without being sent: GitHub may ban an app that goes on asking. */
function openLimits({ retryAfterBaseValue: secondMs = 1_000 }: NonNullable<GitHubAppOptions['pace']> = {}) {
  const endings = new Map<string, number>()
  const note = (id: string, fault: AppError) => {
    if (fault instanceof CodeHostBusy) endings.set(id, Date.now() + (fault.retryAfterMs / 1_000) * secondMs)
  }
  return <One extends GitHubClient>(id: string, client: One): One => {
    client.hook.wrap('request', async (request, options) => {
      const leftMs = (endings.get(id) ?? 0) - Date.now()
      if (leftMs > 0) {
        const leftS = Math.ceil(leftMs / secondMs)
        throw new CodeHostBusy(`GitHub has asked to wait: a limit lasts for ${leftS} s more`, leftS * 1_000)
      }
      endings.delete(id)
      try {
        return await request(options)
      } catch (error) {
        note(id, hostError(error))
        throw error
      }
    })
    return client
  }
}

/** Octokit itself waits for an answer without a limit. */
function fetchWithin(ms = usualRequestMs, onAnswer: (response: Response | undefined) => void): typeof fetch {
  return async (input, init = {}) => {
    const limit = AbortSignal.timeout(ms)
    try {
      const response = await fetch(input, {
        ...init,
        signal: init.signal ? AbortSignal.any([init.signal, limit]) : limit,
      })
      onAnswer(response)
      return response
    } catch (error) {
      onAnswer(undefined)
      throw error
    }
  }
}

const TokenAnswer = z.looseObject({ token: z.string() })
const quiet = { debug() {}, info() {}, warn() {}, error() {} }

function throttleOf(log: GitHubAppOptions['log']) {
  const wait = (retryAfter: number, { method, url }: { method: string; url: string }, tries: number) => {
    const waits = retryAfter <= mostWaitS && tries < 2
    log.warn('GitHub asks to wait', { method, url, retry_after_s: retryAfter, waits })
    return waits
  }
  type Limited = { method: string; url: string }
  return {
    onRateLimit: (after: number, options: Limited, _octokit: unknown, tries: number) => wait(after, options, tries),
    onSecondaryRateLimit: (after: number, options: Limited, _octokit: unknown, tries: number) =>
      wait(after, options, tries),
  }
}

const Failed = z.looseObject({
  status: z.int(),
  message: z.string(),
  response: z
    .looseObject({ headers: z.record(z.string(), z.unknown()).default({}), data: z.unknown().optional() })
    .optional(),
})

/** The GraphQL API refuses with status 200: its client throws this, and so does the limiter. */
const Refusal = z.looseObject({
  headers: z.record(z.string(), z.unknown()),
  errors: z
    .array(z.looseObject({ type: z.string().optional(), message: z.string(), extensions: z.unknown().optional() }))
    .min(1),
})
const Refused = z.union([
  Refusal,
  z
    .looseObject({ response: Refusal.pick({ headers: true }), data: Refusal.pick({ errors: true }) })
    .transform(({ response, data }) => ({ ...response, ...data })),
])

/** Is HOST_003 for the app itself, whatever it asks for: its key is not valid any more, or the clock of this machine is wrong. */
export class AppRefused extends AppError {
  constructor(message: string, options: { cause?: unknown } = {}) {
    super('HOST_003', message, options)
  }
}

function tokenFault(cause: unknown): AppError {
  const message = () => `GitHub gives no token: ${Failed.safeParse(cause).data?.message.slice(0, 300) ?? String(cause)}`
  const status = statusOf(cause)
  if (status === 401) return new AppRefused(message(), { cause })
  // The installation does not have the repository, or not the permission.
  return status === 422 ? new AppError('HOST_003', message(), { cause }) : hostError(cause)
}

export function statusOf(error: unknown): number | undefined {
  return Failed.safeParse(error instanceof AppError ? error.cause : error).data?.status
}

/** HOST_001: it may work later. HOST_003: the permission is gone. HOST_002, or `missing`: not there, or not shown. PUBLISH_001: 409, 422. */
export async function orHostError<T>(work: Promise<T>, missing: ErrorCode = 'HOST_002'): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw hostError(error, missing)
  }
}

export function hostError(cause: unknown, missing: ErrorCode = 'HOST_002'): AppError {
  if (cause instanceof AppError) return cause
  const answer = Failed.safeParse(cause).data
  if (answer === undefined) {
    const refused = Refused.safeParse(cause).data
    if (refused !== undefined) return refusedByGraphql(refused, missing, cause)
    const message = cause instanceof Error ? cause.message : String(cause)
    return new AppError('HOST_001', `GitHub does not answer: ${message}`, { cause })
  }
  const { status, message, response } = answer
  const { headers = {} } = response ?? {}
  const isLimit = headers['x-ratelimit-remaining'] === '0' || /rate limit/i.test(message)
  const pauseMs = retryAfterIn(headers)
  // Octokit gives 500 to what never was an answer.
  const verb = response === undefined ? 'does not answer' : `answers ${status}`
  const text = `GitHub ${verb}: ${message.slice(0, 300)}`
  if (status === 429 || (status === 403 && (isLimit || pauseMs !== undefined)))
    return new CodeHostBusy(text, pauseMs ?? usualLimitMs, { cause })
  if (status >= 500 && pauseMs !== undefined) return new CodeHostBusy(text, pauseMs, { cause })
  if (status >= 500) return new AppError('HOST_001', text, { cause })
  if (status === 401 || status === 403) return new AppError('HOST_003', text, { cause })
  if (status === 404 || status === 410 || status === 451) return new AppError(missing, text, { cause })
  return new AppError('PUBLISH_001', text, { cause })
}

function refusedByGraphql({ headers, errors }: z.infer<typeof Refused>, missing: ErrorCode, cause: unknown): AppError {
  const types = new Set(errors.map(({ type }) => type))
  const text = `GitHub refuses: ${errors
    .map(({ message }) => message)
    .join('; ')
    .slice(0, 300)}`
  if (types.has('RATE_LIMITED') || /rate limit/i.test(text))
    return new CodeHostBusy(text, retryAfterIn(headers) ?? usualLimitMs, { cause })
  // What is wrong with a query has `extensions`; GitHub names neither where it fails by itself, as after a timeout.
  if (errors.every(({ type, extensions }) => type === undefined && extensions === undefined))
    return new AppError('HOST_001', text, { cause })
  if (types.has('FORBIDDEN')) return new AppError('HOST_003', text, { cause })
  return new AppError(types.has('NOT_FOUND') ? missing : 'PUBLISH_001', text, { cause })
}

export async function undefinedWhenMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work
  } catch (error) {
    if (statusOf(error) === 404) return undefined
    throw hostError(error)
  }
}
