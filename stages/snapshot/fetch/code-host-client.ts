import { Agent, type Dispatcher, EnvHttpProxyAgent, request } from 'undici'
import { CodeHostBusy, retryAfterIn } from '#code-hosts/code-host-busy.ts'
import { ReadAccess, readAccessPath, ReadAccessRefusal, type ReadAccessRequest } from '#code-hosts/read-access.ts'
import type { ReadableArchive } from '#code-hosts/read-access.ts'
import { AppError } from '#domain/error.ts'
import { parseJson } from '#domain/json.ts'
import type { HttpProxy } from '#platform/env.ts'

export type CodeHostClientOptions = {
  /** Undefined means that this installation has no publisher. */
  publisher: { url: string; secret: string } | undefined
  proxy?: HttpProxy | undefined
  limits?: Partial<FetchLimits> | undefined
}

export type FetchLimits = {
  /** Limits the wait for the head of an answer, and between two parts of its body. */
  idleMs: number
  /** Limits a whole archive, with its redirects. */
  totalMs: number
  redirects: number
}

const usualLimits: FetchLimits = { idleMs: 30_000, totalMs: 600_000, redirects: 5 }
const maxAnswerBytes = 64 * 1024

export type CodeHostClient = ReturnType<typeof openCodeHostClient>

/** Asks the publisher for the right to read code, and reads it at the code host. What it throws names no address and no header. */
export function openCodeHostClient({ publisher, proxy, limits: given }: CodeHostClientOptions) {
  const limits = { ...usualLimits, ...given }
  const timeouts = { headersTimeout: limits.idleMs, bodyTimeout: limits.idleMs, connect: { timeout: limits.idleMs } }
  const near = new Agent({ ...timeouts, maxResponseSize: maxAnswerBytes })
  const proxies = proxy && { httpProxy: proxy.http ?? '', httpsProxy: proxy.https ?? '', noProxy: proxy.direct }
  const far = proxies === undefined ? new Agent(timeouts) : new EnvHttpProxyAgent({ ...timeouts, ...proxies })
  return {
    /** The publisher's refusals keep their codes; HOST_001 when it gives no answer, HOST_002 when there is no publisher. */
    async askReadAccess(ask: ReadAccessRequest, signal: AbortSignal): Promise<ReadAccess> {
      if (publisher === undefined) {
        throw new AppError('HOST_002', 'no code can be fetched here: there is no publisher (REMORA_PUBLISHER_URL)')
      }
      const sending = { dispatcher: near, signal, totalMs: limits.idleMs }
      const { status, headers, text } = await post(publisher, ask, sending)
      const access = status === 200 ? ReadAccess.safeParse(parseJson(text)).data : undefined
      if (access !== undefined) return access
      const { data: refusal } = ReadAccessRefusal.safeParse(parseJson(text))
      const pauseMs = retryAfterIn(headers)
      if (refusal?.error_code === 'HOST_001' && pauseMs !== undefined) throw new CodeHostBusy(refusal.detail, pauseMs)
      if (refusal !== undefined) throw new AppError(refusal.error_code, refusal.detail)
      throw new AppError('HOST_001', `the publisher gave an answer with status ${status} that is not understood`)
    },
    /** HOST_003 for a refusal, HOST_004 where there is no such commit, HOST_001 for what may pass. Leaving the loop ends the request. */
    async *readArchive(archive: ReadableArchive, signal: AbortSignal): AsyncGenerator<Uint8Array> {
      const late = AbortSignal.timeout(limits.totalMs)
      const ended = AbortSignal.any([signal, late])
      try {
        const answer = await follow(archive, { dispatcher: far, signal: ended, redirects: limits.redirects })
        const bytes: AsyncIterable<Uint8Array> = answer.body
        yield* bytes
      } catch (error) {
        signal.throwIfAborted()
        if (error instanceof AppError) throw error
        const what = late.aborted ? `its archive was not there within ${limits.totalMs / 1000} s` : brokeOff(error)
        throw new AppError('HOST_001', `the code host: ${what}`)
      }
    },
    async close() {
      await Promise.all([near.destroy(), far.destroy()])
    },
  }
}

async function post(
  { url, secret }: { url: string; secret: string },
  ask: ReadAccessRequest,
  { dispatcher, signal, totalMs }: { dispatcher: Dispatcher; signal: AbortSignal; totalMs: number },
): Promise<{ status: number; headers: Dispatcher.ResponseData['headers']; text: string }> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(totalMs)])
  const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
  try {
    const address = new URL(`${url.replace(/\/+$/, '')}${readAccessPath}`)
    const sent = { method: 'POST', headers, body: JSON.stringify(ask), dispatcher, signal: ended } as const
    const answer = await request(address, sent)
    return { status: answer.statusCode, headers: answer.headers, text: await answer.body.text() }
  } catch (error) {
    signal.throwIfAborted()
    throw new AppError('HOST_001', `the publisher does not answer: ${brokeOff(error)}`)
  }
}

/** Tells only the code of an error: its message may have the address, in which a code host puts a token. */
function brokeOff(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^\w+$/.test(code) ? `the connection failed (${code})` : 'the connection failed'
}

type Follow = { dispatcher: Dispatcher; signal: AbortSignal; redirects: number }

/** Only the first origin gets the headers. HOST_003 when https leads to http. */
async function follow({ url, headers }: ReadableArchive, { dispatcher, signal, redirects }: Follow) {
  const first = new URL(url)
  let next = first
  for (let left = redirects; ; left -= 1) {
    const own = next.origin === first.origin ? headers : {}
    const sent = { 'user-agent': 'remora', ...own }
    const answer = await request(next, { method: 'GET', headers: sent, dispatcher, signal })
    if (answer.statusCode === 200) return answer
    const { location } = answer.headers
    await answer.body.dump({ limit: maxAnswerBytes })
    const isRedirect = answer.statusCode >= 300 && answer.statusCode < 400
    if (!isRedirect || typeof location !== 'string') throw refusalOf(next, answer)
    if (left === 0) throw new AppError('HOST_003', `${next.host} leads to ever other addresses`)
    if (!URL.canParse(location, next.href)) throw new AppError('HOST_003', `${next.host} leads to what is no address`)
    next = new URL(location, next)
    const isSafe = next.protocol === 'https:' || (next.protocol === 'http:' && first.protocol === 'http:')
    if (!isSafe) throw new AppError('HOST_003', `${first.host} leads to an address without encryption`)
  }
}

/** GitHub says also with 403 that a limit is reached. */
function refusalOf({ host }: URL, { statusCode, headers }: Dispatcher.ResponseData): AppError {
  const message = `${host} answered ${statusCode}`
  const pauseMs = retryAfterIn(headers)
  if (statusCode === 404 || statusCode === 410) {
    return new AppError('HOST_004', `${message}: the commit is not there, or may not be read any more`)
  }
  const isLimit = statusCode === 403 && (pauseMs !== undefined || headers['x-ratelimit-remaining'] === '0')
  const mayPass = statusCode >= 500 || [408, 425, 429].includes(statusCode) || isLimit
  if (!mayPass) return new AppError('HOST_003', `${message}: the code may not be read`)
  const text = `${message}: it asks to come back later`
  return pauseMs === undefined ? new AppError('HOST_001', text) : new CodeHostBusy(text, pauseMs)
}
