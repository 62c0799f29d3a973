import type { ModelRequest, ToolChoice, ToolDefinition } from '#domain/turn.ts'
import type { Capabilities } from './capabilities.ts'
import { boundTools } from './bounded-tools.ts'
import { argumentsFormat, callFormat, type ConstraintKeys, literalKeys } from './call-constraint.ts'
import { promptPhrases } from './plain-prompt.ts'

export type CallPlan = {
  offered: readonly ToolDefinition[]
  toolChoice: ToolChoice
  keys: ConstraintKeys
  listed: readonly ToolDefinition[]
  directive: string | undefined
  workarounds: string[]
}

type CallRequest = Pick<ModelRequest, 'tools' | 'toolChoice' | 'argumentsOf' | 'constraint' | 'maxTokens'>

/**
 * Chooses the nearest equivalent that the server takes: the requested constraint; `tool_choice` as it is; a named choice as
 * `required` with only that tool; a call as text of a schema; last, a request in words, which the loop's corrective turn
 * repeats.
 */
export function planCall(request: CallRequest, capabilities: Capabilities): CallPlan {
  const { tools, toolChoice, constraint = 'none' } = request
  const offered = capabilities.tools ? tools : []
  const plan: CallPlan = {
    offered,
    toolChoice,
    keys: {},
    listed: capabilities.tools ? [] : tools,
    directive: undefined,
    workarounds: [],
  }
  if (tools.length === 0) return plan
  const own = typeof constraint === 'object' ? constraint : undefined
  const literal = own && capabilities.structuredOutputs ? literalKeys(own) : undefined
  if (own !== undefined && literal === undefined) plan.workarounds.push('structured_outputs: not sent')
  const withArguments = asArguments(plan, literal, request, capabilities)
  if (withArguments !== undefined) return withArguments
  if (!capabilities.tools) plan.workarounds.push('tools: described in the prompt')
  if (toolChoice === 'none') return plan
  // A bundle's own constraint knows nothing of a turn that may call only one tool.
  if (literal !== undefined && typeof toolChoice === 'string') return asText(plan, literal, undefined)
  if (constraint === 'json_schema') {
    const held = asHeldText(plan, request, capabilities)
    if (held !== undefined) return held
    plan.workarounds.push('json_schema: not served, tool_choice instead')
  }
  return planChoice(plan, request, capabilities)
}

function planChoice(plan: CallPlan, request: CallRequest, capabilities: Capabilities): CallPlan {
  const { toolChoice } = request
  const kind = typeof toolChoice === 'object' ? 'named' : toolChoice
  if (kind === 'none') return plan
  const shown = typeof toolChoice === 'object' ? toolChoice.name : toolChoice
  const instead = (what: string) => plan.workarounds.push(`tool_choice ${shown}: ${what}`)
  const wanted = wantedTools(request)
  if (kind === 'auto') {
    if (capabilities.tools && capabilities.auto) return plan
  } else {
    const { tools, required, named } = capabilities
    const isTaken = tools && (kind === 'named' ? named : required !== 'none')
    if (isTaken && required !== 'loose') return plan
    if (tools && required === 'alone') {
      instead('required, with that tool alone')
      return { ...plan, offered: wanted, toolChoice: 'required' }
    }
    const held = asHeldText(plan, request, capabilities)
    if (held !== undefined) {
      instead('text held to the schema of a call')
      return held
    }
    if (isTaken) return plan
  }
  instead('asked for in words')
  if (!capabilities.tools || !capabilities.auto) return asText(plan, {}, textDirective(request))
  const directive = `${promptPhrases.callNow}${namesOf(wanted)}.`
  return { ...plan, offered: wanted, toolChoice: 'auto', directive }
}

function asArguments(
  plan: CallPlan,
  literal: ConstraintKeys | undefined,
  { argumentsOf, maxTokens, ...request }: CallRequest,
  capabilities: Capabilities,
): CallPlan | undefined {
  if (argumentsOf === undefined) return undefined
  const alone = { ...plan, offered: [], toolChoice: 'none', listed: [] } as const
  if (literal !== undefined) return { ...alone, keys: literal }
  const { lengths, jsonSchema } = capabilities
  if (!jsonSchema) return undefined
  // A server that takes no bounds may not take the other keywords of the answer either.
  const unbounded = lengths === 'none' ? wantedTools(request) : [argumentsOf]
  const { tools, isOpen } = boundTools(unbounded, { lengths, maxTokens, isClosed: true })
  if (isOpen) plan.workarounds.push(openWorkaround)
  return { ...alone, keys: { response_format: argumentsFormat(tools, capabilities) } }
}

function asHeldText(plan: CallPlan, request: CallRequest, capabilities: Capabilities): CallPlan | undefined {
  const { lengths, jsonSchema } = capabilities
  if (!jsonSchema) return undefined
  const { tools, isOpen } = boundTools(wantedTools(request), { lengths, maxTokens: request.maxTokens, isClosed: true })
  if (isOpen) plan.workarounds.push(openWorkaround)
  return asText(plan, { response_format: callFormat(tools, capabilities) }, textDirective(request))
}

/** Stands in the reply's `workarounds`: the server takes no bound for some text, so a call may be cut before it is closed. */
export const openWorkaround = 'lengths: some texts are not bounded'

function asText(plan: CallPlan, keys: ConstraintKeys, directive: string | undefined): CallPlan {
  return { ...plan, toolChoice: 'none', keys, directive }
}

function textDirective(request: CallRequest): string {
  const names = namesOf(wantedTools(request))
  const form = `{"name": "<tool>", "arguments": {…}}`
  const words = request.toolChoice === 'auto' ? promptPhrases.mayWriteCall : promptPhrases.mustWriteCall
  return `${words}${form}. ${promptPhrases.names}${names}.`
}

function namesOf(tools: readonly ToolDefinition[]): string {
  return tools.map(({ name }) => name).join(', ')
}

function wantedTools({ tools, toolChoice }: Pick<CallRequest, 'tools' | 'toolChoice'>): readonly ToolDefinition[] {
  return typeof toolChoice === 'string' ? tools : tools.filter(({ name }) => name === toolChoice.name)
}
