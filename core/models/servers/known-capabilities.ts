import type { Clock } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import { withinLimit } from '#platform/within-limit.ts'
import type { Capabilities } from '../wire/capabilities.ts'
import { capabilitiesOf, lacksOf, noFindings, type Findings } from './findings.ts'
import type { FindingsKeeper } from './findings-keeper.ts'
import { lacksText } from './lacks-text.ts'
import { probeCapabilities, type ProbeDeps } from './probe-capabilities.ts'

export type KnownCapabilities = {
  /** What is known now, and after a few seconds what is known by then. Rejects only with the signal's reason. */
  of(model: string, signal: AbortSignal): Promise<Capabilities>
  /** The server has refused a request that these capabilities allowed: probed anew soon, at most once a minute. */
  doubt(model: string): void
}

export type KnownCapabilitiesDeps = Pick<ProbeDeps, 'client' | 'timeoutMs'> & {
  endpoint: string
  keeper: FindingsKeeper
  clock: Clock
  random(): number
  /** How long the first requests wait for a probe; at a slow server they go on with what it has found so far. */
  firstWaitMs?: number
  /** Ends probes, when the pool is closed. */
  closing: AbortSignal
  log?: Pick<Log, 'warn'> | undefined
}

const probeMs = 30_000
const defaultFirstWaitMs = 60_000
/** A server may come back as another version, or with other flags. */
const conclusiveMs = 10 * 60_000
/** After the first probe that left something unclear, the second, and so on. */
const unclearMs = [30_000, 60_000, 120_000] as const
const longUnclearMs = 300_000
const doubtMs = 60_000
const lookMs = 500

/** What this process knows of one model. */
type Known = {
  findings: Findings
  /** While there is no answer yet, and the first requests have not waited long enough. */
  beginning: Promise<void> | undefined
  isAsking: boolean
  askAgainAt: number
  doubtedAt: number
  told: string
}

/**
 * What an endpoint takes, by model: asked when it is first wanted, again about ten minutes later, or after half a minute,
 * one, two and five when something stayed unclear, then for that alone. A probe that finds nothing out changes nothing.
 * What the endpoint lacks is logged once, and once more whenever that changes.
 */
export function openKnownCapabilities(deps: KnownCapabilitiesDeps): KnownCapabilities {
  const { clock, endpoint, keeper, closing, log, firstWaitMs = defaultFirstWaitMs } = deps
  const models = new Map<string, Known>()
  const ask = async (model: string, known: Known, how: { isDoubted: boolean }) => {
    known.isAsking = true
    if (how.isDoubted) await keeper.doubt(endpoint, model)
    const restMs = await findOut(model, known, how, deps).catch((error: unknown) => {
      log?.warn('what a model server takes could not be found out', { endpoint, model, error })
      return longUnclearMs
    })
    known.askAgainAt = clock.now() + restMs
    known.isAsking = false
    tellLacks(model, known, deps)
  }
  const begin = (model: string): Known => {
    const known = openKnown()
    models.set(model, known)
    const asked = ask(model, known, { isDoubted: false })
    const wait = { limitMs: firstWaitMs, signal: closing, late: () => undefined }
    known.beginning = withinLimit(asked, wait)
      .catch(() => undefined) // the pool is closed
      .finally(() => (known.beginning = undefined))
    return known
  }
  return {
    async of(model, signal) {
      signal.throwIfAborted()
      const known = models.get(model) ?? begin(model)
      if (known.beginning !== undefined) {
        await withinLimit(known.beginning, { limitMs: firstWaitMs, signal, late: () => undefined })
      } else if (!known.isAsking && clock.now() >= known.askAgainAt) {
        void ask(model, known, { isDoubted: false })
      }
      return capabilitiesOf(known.findings)
    },
    doubt(model) {
      const known = models.get(model)
      const now = clock.now()
      if (known === undefined || known.isAsking || now - known.doubtedAt < doubtMs) return
      known.doubtedAt = now
      void ask(model, known, { isDoubted: true })
    },
  }
}

function openKnown(): Known {
  return {
    findings: noFindings,
    beginning: undefined,
    isAsking: false,
    askAgainAt: Infinity,
    doubtedAt: -Infinity,
    told: '{}',
  }
}

/** Probes, or takes over what another process finds. Answers for how long that goes, in milliseconds. */
async function findOut(
  model: string,
  known: Known,
  { isDoubted }: { isDoubted: boolean },
  deps: KnownCapabilitiesDeps,
): Promise<number> {
  const { endpoint, keeper, clock, random, closing } = deps
  while (!closing.aborted) {
    const turn = await keeper.turn(endpoint, model)
    if (turn.kind === 'mine') {
      const findings = toAsk(turn.known ?? known.findings, { isDoubted })
      known.findings = findings
      const noted = () => void keeper.note(endpoint, model, findings)
      const letGo = keeper.keepTurn(endpoint, model)
      try {
        await probeCapabilities(model, findings, { ...deps, probeMs, noted })
      } finally {
        await letGo()
      }
      const restMs = closing.aborted ? 1 : restAfter(findings, random)
      await keeper.rest(endpoint, model, findings, restMs)
      return restMs
    }
    known.findings = turn.known ?? known.findings
    if (turn.kind === 'rest') return turn.restMs * (1 + random() / 10)
    await clock.delay(lookMs * (1 + random()), closing).catch(() => undefined)
  }
  return Infinity
}

/** What is unclear is asked, and everything where nothing is. */
function toAsk({ found, unclear, misses }: Findings, { isDoubted }: { isDoubted: boolean }): Findings {
  const everything = isDoubted || unclear.length === 0
  return { found: { ...found }, unclear: everything ? noFindings.unclear : unclear, misses }
}

/** Counts, and says how long these findings go: never quite as long, so that processes do not ask together. */
function restAfter(findings: Findings, random: () => number): number {
  const { unclear, misses } = findings
  const ms = unclear.length === 0 ? conclusiveMs : (unclearMs[misses] ?? longUnclearMs)
  findings.misses = unclear.length === 0 ? 0 : misses + 1
  return ms * (0.8 + 0.4 * random())
}

function tellLacks(model: string, known: Known, { endpoint, log }: KnownCapabilitiesDeps): void {
  const lacks = lacksOf(known.findings)
  const text = JSON.stringify(lacks)
  if (text === known.told) return
  known.told = text
  log?.warn('the model server does not take every request as it is', { endpoint, model, lacks: lacksText(lacks) })
}
