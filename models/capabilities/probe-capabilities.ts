import { after, msSince } from '#platform/clock.ts'
import { openSemaphore } from '#platform/limit-concurrency.ts'
import type { OpenAiClient } from '../http/openai-client.ts'
import type { Capabilities } from '../wire/capabilities.ts'
import { capabilitiesOf, type Support, type ProbedCapabilities } from './probed-capabilities.ts'
import {
  askProbe,
  holdsCall,
  holdsWrittenCall,
  promptTokens,
  talksBeforeCall,
  type ProbeAnswer,
} from './probe-answer.ts'
import { knownChoice, longestOverPlain, probeRequests } from './probe-requests.ts'

export type ProbeDeps = {
  client: OpenAiClient
  timeoutMs: number
  /** Limits all requests together, with more at a slow server; what has no result by then is unclear. */
  probeMs: number
  closing: AbortSignal
}

const mostPatience = 3
const longRequests = 10

/** Probes take no slots of the server: two at once do not disturb a busy one. */
const requestsAtOnce = 2

type Name = keyof Capabilities

/**
 * Probes, with at most a dozen small requests, what is unclear, into `probed`. Something is lacking when the request with it is
 * refused while the plain one is taken, or the reply shows that it was ignored: llama.cpp treats a named `tool_choice` as `auto`
 * (ggml-org/llama.cpp issue 26535), Ollama ignores every one (ollama/ollama issue 17921). Never rejects.
 */
export async function probeCapabilities(model: string, probed: ProbedCapabilities, deps: ProbeDeps): Promise<void> {
  const { client, timeoutMs, probeMs, closing } = deps
  const gate = openSemaphore(requestsAtOnce)
  const limit = new AbortController()
  const end = () => limit.abort(new Error('the probe took too long'))
  let stopTimer = after(probeMs, end)
  let patienceMs = timeoutMs
  const signal = AbortSignal.any([limit.signal, closing])
  const ask = async (body: string): Promise<ProbeAnswer> => {
    const leave = await gate.acquire(signal).catch(() => undefined)
    if (leave === undefined) return { kind: 'unclear' }
    return askProbe(client, body, { timeoutMs: patienceMs, signal }).finally(leave)
  }
  const probe = openProbe(model, probed, ask)
  const sentAt = performance.now()
  const plain = await ask(probe.requests.plain)
  patienceMs = Math.min(mostPatience * timeoutMs, Math.max(timeoutMs, longestOverPlain * msSince(sentAt)))
  if (patienceMs > timeoutMs) {
    stopTimer()
    stopTimer = after(longRequests * patienceMs, end)
  }
  if (plain.kind === 'taken') {
    await probeChoices(probe, plain)
    await probeSchemas(probe)
    await probeConstraints(probe)
  }
  stopTimer()
}

type Probe = ReturnType<typeof openProbe>

function openProbe(model: string, probed: ProbedCapabilities, ask: (body: string) => Promise<ProbeAnswer>) {
  return {
    requests: probeRequests(model),
    ask,
    known: () => capabilitiesOf(probed),
    supportFor: (name: Name) => probed.support[name],
    isUnclear: (name: Name) => probed.unclear.includes(name),
    note(name: Name, support: Support) {
      probed.support[name] = support
      probed.unclear = probed.unclear.filter((other) => other !== name)
    },
  }
}

async function probeOne(probe: Probe, name: Name, body: string, isDone = (_: string) => true) {
  if (!probe.isUnclear(name)) return undefined
  const answer = await probe.ask(body)
  if (answer.kind !== 'unclear') probe.note(name, supportOf(answer, isDone))
  return answer
}

function supportOf(answer: Exclude<ProbeAnswer, { kind: 'unclear' }>, isDone: (text: string) => boolean) {
  if (answer.kind === 'refused') return 'refused'
  return isDone(answer.text) ? 'taken' : 'ignored'
}

async function probeChoices(probe: Probe, plain: ProbeAnswer): Promise<void> {
  const { requests } = probe
  const [auto] = await Promise.all([
    probeOne(probe, 'auto', requests.auto),
    probeRequired(probe),
    probeOne(probe, 'named', requests.named, holdsCall),
    probeOne(probe, 'systemRole', requests.systemRole),
    probeOne(probe, 'streamUsage', requests.streamUsage),
  ])
  const choices = ['auto', 'required', 'named'] as const
  if (choices.some(probe.isUnclear)) return
  if (choices.every((name) => probe.supportFor(name) === 'refused')) return probe.note('tools', 'refused')
  const isHeldToNone = probe.supportFor('required') === 'ignored' && probe.supportFor('named') === 'ignored'
  if (!isHeldToNone) return probe.note('tools', 'taken')
  const answer = auto ?? (await probe.ask(requests.auto))
  if (answer.kind !== 'unclear') probe.note('tools', isAsLong(answer, plain) ? 'ignored' : 'taken')
}

async function probeRequired(probe: Probe): Promise<void> {
  const answer = await probeOne(probe, 'required', probe.requests.required, holdsCall)
  if (answer?.kind === 'taken' && talksBeforeCall(answer.text)) probe.note('required', 'taken_loosely')
}

/** Tools that do not make the prompt longer are not in it: llama.cpp drops them when its template has no field for them. */
function isAsLong(withTools: ProbeAnswer, plain: ProbeAnswer): boolean {
  const tokens = promptTokens(plain)
  return tokens !== undefined && tokens === promptTokens(withTools)
}

/** A server that does not take tools takes no messages with calls and results either, and the rest does not matter. */
async function probeSchemas(probe: Probe): Promise<void> {
  if (!probe.known().tools) {
    for (const name of ['strictSchemas', 'strictArguments', 'parallelCalls'] as const) probe.note(name, 'taken')
    return probe.note('toolMessages', probe.supportFor('tools') ?? 'refused')
  }
  const { requests } = probe
  const choice = knownChoice(probe.known())
  await Promise.all([
    probeOne(probe, 'strictSchemas', requests.strictSchemas(choice)),
    probeOne(probe, 'strictArguments', requests.strictArguments(choice)),
    probeOne(probe, 'parallelCalls', requests.parallelCalls(choice)),
    probeOne(probe, 'toolMessages', requests.toolMessages(choice)),
  ])
}

async function probeConstraints(probe: Probe): Promise<void> {
  const { requests } = probe
  const known = probe.known()
  await Promise.all([
    probeOne(probe, 'jsonSchema', requests.jsonSchema(known), holdsWrittenCall).then(() => probeLengths(probe)),
    probeOne(probe, 'structuredOutputs', requests.structuredOutputs(known), holdsWrittenCall),
  ])
}

async function probeLengths(probe: Probe): Promise<void> {
  if (!probe.isUnclear('lengths')) return
  const known = probe.known()
  for (const [length, support] of [
    ['long', 'taken'],
    ['short', 'taken_short'],
  ] as const) {
    const body = probe.requests.lengths(length, known)
    if (body === undefined) return probe.note('lengths', 'taken')
    const answer = await probe.ask(body)
    if (answer.kind === 'unclear') return
    if (answer.kind === 'taken') return probe.note('lengths', support)
  }
  probe.note('lengths', 'refused')
}
