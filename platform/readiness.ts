import { after, untilAborted } from './clock.ts'

/**
 * `full`: it answers, and takes nothing more. `unsafe`: it may lose what it was given. `unknown`: what tells about it cannot be
 * read. `message` has no login and no figure of a store: anyone may read those of the API.
 */
export type PartState = { state: (typeof partStates)[number]; message: string }

export const partStates = ['ok', 'away', 'full', 'unsafe', 'unknown'] as const

/** A check that rejects or is late has found a needed part away, and nothing about one that is only shown. */
export type PartCheck = (signal: AbortSignal) => Promise<PartState>

export type PartChecks = Readonly<Record<string, PartCheck>>

export type ReadyAnswer = { status: 'ready' | 'not ready'; parts: Record<string, PartState> }

export type Readiness = () => Promise<ReadyAnswer>

/** A part counts as away when it has not answered by then. A supervisor's own probe usually waits as long. */
const checkMs = 1_000
const freshMs = 1_000

/** Checks each part once a second at most, however often it is asked. The service can do its work without the parts in `shown`. */
export function openReadiness(needed: PartChecks, shown: PartChecks = {}): Readiness {
  const [ask, askShown] = [openParts(needed, silent), openParts(shown, untold)]
  return async () => {
    const [found, beside] = await Promise.all([ask(), askShown()])
    const isReady = found.every(([, { state }]) => state === 'ok')
    return { status: isReady ? 'ready' : 'not ready', parts: Object.fromEntries([...found, ...beside]) }
  }
}

/** Checks one needed part, for those of a service that ask for it alone: as often as they like, and together with its readiness. */
export function openPartCheck(check: PartCheck): () => Promise<PartState> {
  return sharedCheck(check, silent)
}

function openParts(checks: PartChecks, otherwise: PartState) {
  const parts = Object.entries(checks).map(([name, check]) => ({ name, state: sharedCheck(check, otherwise) }))
  return () => Promise.all(parts.map(async ({ name, state }) => [name, await state()] as const))
}

const silent: PartState = { state: 'away', message: 'no answer within a second' }
/** A part that is only shown is one that a store tells about. */
const untold: PartState = { state: 'unknown', message: 'what tells about it does not answer' }

/** While a check is late, and it may wait as long as its store is away, its part is `otherwise` and no second one begins. */
function sharedCheck(check: PartCheck, otherwise: PartState): () => Promise<PartState> {
  let answer: Promise<PartState> | undefined
  const ended = (state: PartState) => {
    answer = Promise.resolve(state)
    after(freshMs, () => (answer = undefined))
  }
  const begin = () => {
    const limit = AbortSignal.timeout(checkMs)
    const checked = check(limit).catch(() => otherwise)
    const inTime = untilAborted(checked, limit).catch(() => otherwise)
    void checked.then(ended)
    return inTime
  }
  return () => (answer ??= begin())
}
