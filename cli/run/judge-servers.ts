import { AppError } from '#domain/error.ts'
import { withoutLogin } from '#platform/hide-secrets.ts'
import type { RunView } from '#schemas/run-schema.ts'
import type { AwayServer } from '#schemas/waiting-schema.ts'
import type { ApiClient } from '../api-client.ts'
import { askServer } from '../model-server.ts'
import type { Follower } from './follow-run.ts'

export type JudgedServers = {
  client: Pick<ApiClient, 'cancel'>
  namedIn: string
  apiKey: string | undefined
  /** Is true when the run was there before: it then is left as it is, for a command with the right servers. */
  isResumed: boolean
  signal: AbortSignal
}

export type ServersJudge = Required<Pick<Follower, 'onEvent' | 'onRun'>> & {
  /** Is true while it may still find out that the servers are wrong ones: none of them has done anything yet. */
  isJudging(): boolean
  fault(): AppError | undefined
}

/** A server that starts together with this command has so long to answer for the first time. */
const patienceMs = 10_000
const notFound = 404

/**
 * A run waits a day for model servers that are away. This notices that the servers of a stack of our own are wrong ones: none
 * has answered since the stack started, or those that did answer do not know the paths of the API. When nothing of the run can
 * move without them, a run of which something is done is left as it is, by a CONFIG_005 that ends the following; another one is
 * cancelled.
 */
export function judgeServers(options: JudgedServers): ServersJudge {
  const startedAt = Date.now()
  let hasReplied = false
  let fault: AppError | undefined
  return {
    isJudging: () => !hasReplied,
    fault: () => fault,
    onEvent({ event, ts, error_code: code }) {
      if (event === 'model.responded' && code === undefined && Date.parse(ts) >= startedAt) hasReplied = true
    },
    async onRun(run) {
      if (hasReplied || fault !== undefined || Date.now() - startedAt < patienceMs) return
      const unusable = await faultOfServers(run, options)
      if (unusable === undefined) return
      if (options.isResumed || run.counts.succeeded + run.counts.unchanged > 0) throw unusable
      fault = unusable
      await options.client.cancel(run.run_id, 'no model server can be used')
    },
  }
}

async function faultOfServers(run: RunView, options: JudgedServers): Promise<AppError | undefined> {
  const waitsForOthers = run.waiting_for.some(({ kind }) => kind === 'answer' || kind === 'budget')
  if (run.status !== 'waiting' || waitsForOthers) return undefined
  const servers = Map.groupBy(
    run.waiting_for.flatMap((wait) => (wait.kind === 'models' ? wait.servers : [])),
    ({ url }) => url,
  )
  const faults = await Promise.all([...servers].map(([url, seen]) => faultOf(url, seen, options)))
  if (faults.length === 0 || faults.includes(undefined)) return undefined
  const advice = `start it, or check the URL in ${options.namedIn}: it usually ends with /v1`
  return new AppError('CONFIG_005', `no model server can be used: ${faults.join('; ')}; ${advice}`, { advised: true })
}

async function faultOf(
  url: string,
  seen: readonly AwayServer[],
  { apiKey, signal }: JudgedServers,
): Promise<string | undefined> {
  const at = withoutLogin(url)
  if (seen.every((server) => !server.has_answered)) {
    const error = seen.find(({ last_error: text }) => text !== null)?.last_error ?? 'no answer'
    return `${at} has never answered (${error})`
  }
  const answer = await askServer(url, { signal, apiKey })
  await answer?.body?.cancel()
  return answer?.status === notFound ? `${at} answers 404 to /models` : undefined
}
