import { delay } from '#platform/clock.ts'
import type { Answer } from './answers.ts'

/** `before` and `after` the effect: the connection is cut, and the client cannot know which it was. */
export type FaultKind =
  | { how: 'secondary_limit'; retryAfterSeconds?: number }
  | { how: 'status'; status: 401 | 403 | 404 | 429 | 500 | 502 | 503; retryAfterSeconds?: number }
  /** GitHub's GraphQL API fails with status 200. */
  | { how: 'failed_query' }
  | { how: 'reset_before' }
  | { how: 'reset_after' }
  | { how: 'slow'; ms: number }

export type Fault = FaultKind & {
  method?: string
  /** Of the path, as it was asked for. */
  path?: RegExp
  /** How many matching requests it hits; 1 by default. */
  times?: number
}

export type Moment = { method: string; path: string; number: number; when: 'before' | 'after' }

export type Faults = ReturnType<typeof openFaults>

/** What is planned to go wrong. */
export function openFaults() {
  const planned: { fault: Fault; left: number }[] = []
  return {
    planned,
    add(...faults: Fault[]) {
      for (const fault of faults) planned.push({ fault, left: fault.times ?? 1 })
    },
    clear() {
      planned.length = 0
    },
    /** The fault of this request, which counts as one. */
    next(method: string, path: string): FaultKind | undefined {
      for (const plan of planned) {
        const { fault } = plan
        if (plan.left === 0 || (fault.method ?? method) !== method || fault.path?.test(path) === false) continue
        plan.left--
        return fault
      }
      return undefined
    },
  }
}

/** What is answered instead of the effect; undefined when the request goes on. */
export async function instead(
  fault: FaultKind | undefined,
  signal: AbortSignal,
): Promise<Answer | 'reset' | undefined> {
  if (fault === undefined || fault.how === 'reset_after') return undefined
  if (fault.how === 'reset_before') return 'reset'
  if (fault.how === 'slow') {
    await delay(fault.ms, signal)
    return undefined
  }
  if (fault.how === 'failed_query') {
    const message = 'Something went wrong while executing your query. This may be the result of a timeout.'
    return { status: 200, body: { data: null, errors: [{ message }] } }
  }
  const wait = fault.retryAfterSeconds ?? (fault.how === 'secondary_limit' ? 1 : undefined)
  const headers = wait === undefined ? {} : { headers: { 'retry-after': String(wait) } }
  if (fault.how === 'status') return { status: fault.status, body: { message: `Injected ${fault.status}` }, ...headers }
  const message = 'You have exceeded a secondary rate limit. Please wait a few minutes before you try again.'
  const help = 'https://docs.github.com/rest/overview/rate-limits-for-the-rest-api#about-secondary-rate-limits'
  return { status: 403, body: { message, documentation_url: help }, ...headers }
}
