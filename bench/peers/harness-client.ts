import OpenAI from 'openai'
import { validateArguments } from '#tool-scripts/tool-arguments.ts'
import { isRecord, parseJson } from '#domain/json.ts'
import type { ToolDefinition } from '#domain/turn.ts'
import { submitTool, submitToolName } from '#bundles/tool-definition.ts'
import { judgeReply } from '../../cli/harness/run-probe.ts'
import { planProbes, type Probe } from '../../cli/harness/plan-probes.ts'
import { harnessPrompt } from '../../cli/harness/run-harness.ts'
import { allShapes } from '../../cli/harness/shapes.ts'
import { toolGuide, withToolGuide } from '#stages/operate/agent/prepared-bundle.ts'

export type BareRates = {
  requests: number
  called: number
  rightTool: number
  rightArguments: number
  submitted: number
}

type BareOrder = {
  url: string
  model: string
  choice: 'required' | 'auto'
  requests: number
  concurrency: number
  maxTokens: number
  timeoutMs: number
  signal: AbortSignal
}

/** As the harness's agents have. */
const maxTurns = 4
const seed = 1

/**
 * The harness's requests through the `openai` client, in the loop that agent frameworks have: the tools as they are,
 * `tool_choice` with every turn, results and refusals back to the model, and the end with a reply without a call.
 */
export async function measureBare(order: BareOrder): Promise<BareRates> {
  const client = new OpenAI({ baseURL: order.url, apiKey: 'none', maxRetries: 0, timeout: order.timeoutMs })
  const system = await harnessPrompt(undefined)
  const probes = planProbes({ shapes: allShapes, requests: order.requests, seed })
  const left = probes.values()
  const results: Awaited<ReturnType<typeof runBare>>[] = []
  const lane = async () => {
    for (const probe of left) results.push(await runBare(client, probe, system, order))
  }
  await Promise.all(Array.from({ length: order.concurrency }, lane))
  const share = (is: (result: (typeof results)[number]) => boolean) => results.filter(is).length / results.length
  return {
    requests: results.length,
    called: share(({ called }) => called),
    rightTool: share(({ rightTool }) => rightTool),
    rightArguments: share(({ rightArguments }) => rightArguments),
    submitted: share(({ submitted }) => submitted),
  }
}

/** A request that fails ends the agent, as in a framework: what it had called until then counts. */
async function runBare(client: OpenAI, probe: Probe, system: string, { model, choice, maxTokens, signal }: BareOrder) {
  const definitions = [...probe.tools, submitTool]
  const tools = definitions.map(({ name, description, parameters }) => {
    return { type: 'function' as const, function: { name, description, parameters: { ...parameters } } }
  })
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    { role: 'system', content: withToolGuide(system, toolGuide(definitions)) },
    { role: 'user', content: probe.prompt },
  ]
  const how = { model, tools, tool_choice: choice, temperature: 0, max_tokens: maxTokens }
  let first: { name: string; arguments: string }[] | undefined
  let submitted = false
  for (let turn = 0; turn < maxTurns && !submitted; turn++) {
    const reply = await client.chat.completions.create({ ...how, messages }, { signal }).catch(() => undefined)
    signal.throwIfAborted()
    const message = reply?.choices[0]?.message
    const calls = (message?.tool_calls ?? []).filter((call) => call.type === 'function')
    first ??= calls.map((call) => call.function)
    if (message === undefined || calls.length === 0) break
    messages.push(message)
    for (const { id, function: called } of calls) {
      const content = answerTo(called, definitions)
      if (content === accepted && called.name === submitToolName) submitted = true
      messages.push({ role: 'tool', tool_call_id: id, content })
    }
  }
  const asked = (first ?? []).map((call) => ({ id: '', ...call }))
  return { ...judgeReply(asked, probe.expected, definitions), submitted }
}

const accepted = JSON.stringify({ done: true })

function answerTo(call: { name: string; arguments: string }, definitions: readonly ToolDefinition[]): string {
  const tool = definitions.find(({ name }) => name === call.name)
  if (tool === undefined) return JSON.stringify({ error: `no tool ${call.name}` })
  const given = parseJson(call.arguments)
  if (!isRecord(given)) return JSON.stringify({ error: 'the arguments are no JSON object' })
  const args = validateArguments(tool.parameters, given)
  return args.ok ? accepted : JSON.stringify({ error: args.faults.join('; ') })
}
