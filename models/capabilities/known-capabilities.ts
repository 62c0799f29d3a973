import { type Clock, withinLimit } from '#platform/clock.ts'
import type { Log } from '#platform/log.ts'
import type { Capabilities } from '../wire/capabilities.ts'
import { capabilitiesOf, lacksOf, lacksText, nothingProbed, type ProbedCapabilities } from './probed-capabilities.ts'
import { probeCapabilities, type ProbeDeps } from './probe-capabilities.ts'

export type KnownCapabilitiesDeps = Pick<ProbeDeps, 'client' | 'timeoutMs'> & {
  endpoint: string
  clock: Pick<Clock, 'now'>
  random(): number
  /** Says how long the first requests wait for a probe; at a slow server they go on with what it has found so far. */
  firstWaitMs?: number
  closing: AbortSignal
  log?: Pick<Log, 'warn'> | undefined
}

const probeMs = 30_000
const defaultFirstWaitMs = 60_000
const conclusiveMs = 10 * 60_000
/** The first probe that left something unclear is repeated after the first of these, and so on. */
const unclearMs = [30_000, 60_000, 120_000] as const
const longUnclearMs = 300_000
const doubtMs = 60_000

type Known = {
  probed: ProbedCapabilities
  /** It is undefined once there is an answer, or the first requests have waited long enough. */
  firstProbe: Promise<void> | undefined
  isProbing: boolean
  probeAgainAt: number
  doubtedAt: number
  logged: string
}

/**
 * Knows what an endpoint takes, by model. It probes on first need, again after ten minutes, and what stayed unclear after 30 s,
 * one, two and five minutes. The log says what the endpoint lacks whenever that changes.
 */
export function openKnownCapabilities(deps: KnownCapabilitiesDeps) {
  const { clock, random, closing, firstWaitMs = defaultFirstWaitMs } = deps
  const models = new Map<string, Known>()
  const probe = async (model: string, known: Known, { isDoubted = false } = {}) => {
    known.isProbing = true
    const probed = toProbe(known.probed, { isDoubted })
    known.probed = probed
    await probeCapabilities(model, probed, { ...deps, probeMs })
    known.probeAgainAt = clock.now() + countMiss(probed, random)
    known.isProbing = false
    logLacks(model, known, deps)
  }
  const begin = (model: string): Known => {
    const known = nothingKnown()
    models.set(model, known)
    const probed = probe(model, known)
    const wait = { limitMs: firstWaitMs, signal: closing, late: () => undefined }
    known.firstProbe = withinLimit(probed, wait)
      .catch(() => undefined) // the pool is closed
      .finally(() => (known.firstProbe = undefined))
    return known
  }
  return {
    /** Returns what is known now; the first requests wait for the probe. Rejects only with the signal's reason. */
    async of(model: string, signal: AbortSignal): Promise<Capabilities> {
      signal.throwIfAborted()
      const known = models.get(model) ?? begin(model)
      if (known.firstProbe !== undefined) {
        await withinLimit(known.firstProbe, { limitMs: firstWaitMs, signal, late: () => undefined })
      } else if (!known.isProbing && clock.now() >= known.probeAgainAt) {
        void probe(model, known)
      }
      return capabilitiesOf(known.probed)
    },
    /** The server has refused a request that these capabilities allowed: probes again soon, at most once a minute. */
    doubt(model: string): void {
      const known = models.get(model)
      const now = clock.now()
      if (known === undefined || known.isProbing || now - known.doubtedAt < doubtMs) return
      known.doubtedAt = now
      void probe(model, known, { isDoubted: true })
    },
  }
}

function nothingKnown(): Known {
  return {
    probed: nothingProbed,
    firstProbe: undefined,
    isProbing: false,
    probeAgainAt: Infinity,
    doubtedAt: -Infinity,
    logged: '{}',
  }
}

function toProbe(
  { support, unclear, misses }: ProbedCapabilities,
  { isDoubted }: { isDoubted: boolean },
): ProbedCapabilities {
  const everything = isDoubted || unclear.length === 0
  return { support: { ...support }, unclear: everything ? nothingProbed.unclear : unclear, misses }
}

/** Updates `misses` and returns how long what was found is valid: varied, so that processes do not probe together. */
function countMiss(probed: ProbedCapabilities, random: () => number): number {
  const { unclear, misses } = probed
  const ms = unclear.length === 0 ? conclusiveMs : (unclearMs[misses] ?? longUnclearMs)
  probed.misses = unclear.length === 0 ? 0 : misses + 1
  return ms * (0.8 + 0.4 * random())
}

function logLacks(model: string, known: Known, { endpoint, log }: KnownCapabilitiesDeps): void {
  const lacks = lacksOf(known.probed)
  const text = JSON.stringify(lacks)
  if (text === known.logged) return
  known.logged = text
  log?.warn('the model server does not take every request as it is', { endpoint, model, lacks: lacksText(lacks) })
}
