import { openInFlightGate } from '#platform/in-flight-gate.ts'
import type { OpenAiClient } from '../http/openai-client.ts'
import { allCapabilities, type Capabilities } from '../wire/capabilities.ts'
import { askProbe, holdsCall, holdsWrittenCall, type ProbeAnswer } from './probe-answer.ts'
import { knownChoice, probeRequests, type ProbeRequests } from './probe-requests.ts'

/** What a probe found. */
export type Probed = {
  capabilities: Capabilities
  /** What the server refuses, or takes and does not do. */
  lacks: { [name in keyof Capabilities]?: 'refused' | 'ignored' }
  /** False when something could not be found out, and is assumed to be taken. */
  conclusive: boolean
}

export type ProbeDeps = { client: OpenAiClient; timeoutMs: number }

/** Few enough not to disturb a server at work. */
const requestsAtOnce = 3

type Asked = { probed: Probed; ask(body: string): Promise<ProbeAnswer> }

/**
 * Finds out what a server takes of requests for `model`: about a dozen small requests, each limited to `timeoutMs`. A thing is
 * lacking when the request with it is refused while the plain one is taken, or when the reply shows that it was ignored:
 * llama.cpp takes a named `tool_choice` and means `auto` (ggml-org/llama.cpp issue 26535), Ollama ignores every
 * `tool_choice` (ollama/ollama issue 17921) and unknown fields. Never rejects; a server that does not take the plain request is assumed to take everything.
 */
export async function probeCapabilities(model: string, { client, timeoutMs }: ProbeDeps): Promise<Probed> {
  const gate = openInFlightGate(requestsAtOnce)
  const probed: Probed = { capabilities: { ...allCapabilities }, lacks: {}, conclusive: true }
  const never = new AbortController().signal
  const ask = async (body: string) => {
    const leave = await gate.enter(never)
    return askProbe(client, body, timeoutMs).finally(leave)
  }
  const requests = probeRequests(model)
  const plain = await ask(requests.plain)
  if (plain.kind !== 'taken') return { ...probed, conclusive: false }
  const asked = { probed, ask }
  await probeChoices(requests, asked)
  await Promise.all([probeSchemas(requests, asked), probeConstraints(requests, asked)])
  return probed
}

type Flag = Exclude<keyof Capabilities, 'ebnf'>

/** Sends one request and notes what its answer says of `name`. */
async function probe({ probed, ask }: Asked, name: Flag, body: string, isDone = (_: string) => true): Promise<void> {
  note(probed, name, await ask(body), isDone)
}

function note(probed: Probed, name: Flag, answer: ProbeAnswer, isDone: (text: string) => boolean): void {
  if (answer.kind === 'unclear') probed.conclusive = false
  else if (answer.kind === 'refused') lack(probed, name, 'refused')
  else if (!isDone(answer.text)) lack(probed, name, 'ignored')
}

function lack(probed: Probed, name: Flag, how: 'refused' | 'ignored'): void {
  probed.capabilities[name] = false
  probed.lacks[name] = how
}

async function probeChoices(requests: ProbeRequests, asked: Asked): Promise<void> {
  await Promise.all([
    probe(asked, 'systemRole', requests.systemRole),
    probe(asked, 'streamUsage', requests.streamUsage),
    probe(asked, 'auto', requests.auto),
    probe(asked, 'required', requests.required, holdsCall),
    probe(asked, 'named', requests.named, holdsCall),
  ])
  const { lacks } = asked.probed
  const isRefused = lacks.auto === 'refused' && lacks.required === 'refused' && lacks.named === 'refused'
  if (isRefused) lack(asked.probed, 'tools', 'refused')
}

/** Where tools are not taken, calls and their results are no messages of their own either. */
async function probeSchemas(requests: ProbeRequests, asked: Asked): Promise<void> {
  if (!asked.probed.capabilities.tools) return lack(asked.probed, 'toolMessages', 'refused')
  const choice = knownChoice(asked.probed.capabilities)
  await Promise.all([
    probe(asked, 'strictSchemas', requests.strictSchemas(choice)),
    probe(asked, 'parallelCalls', requests.parallelCalls(choice)),
    probe(asked, 'toolMessages', requests.toolMessages(choice)),
  ])
}

async function probeConstraints(requests: ProbeRequests, asked: Asked): Promise<void> {
  const { capabilities } = asked.probed
  await Promise.all([
    probe(asked, 'jsonSchema', requests.constraint('json_schema', capabilities), holdsWrittenCall),
    probe(asked, 'structuralTag', requests.constraint('structural_tag', capabilities), holdsWrittenCall),
    probeGrammar(requests, asked),
  ])
}

async function probeGrammar(requests: ProbeRequests, { probed, ask }: Asked): Promise<void> {
  for (const field of ['structured_outputs', 'grammar'] as const) {
    const answer = await ask(requests.constraint('ebnf', { ...probed.capabilities, ebnf: field }))
    if (answer.kind === 'unclear') probed.conclusive = false
    const isServed = answer.kind === 'unclear' || (answer.kind === 'taken' && holdsWrittenCall(answer.text))
    probed.capabilities.ebnf = isServed ? field : 'none'
    if (isServed) {
      delete probed.lacks.ebnf
      return
    }
    probed.lacks.ebnf = answer.kind === 'refused' ? 'refused' : 'ignored'
  }
}
