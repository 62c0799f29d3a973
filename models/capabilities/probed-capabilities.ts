import type { z } from 'zod'
import { allCapabilities, Capabilities } from '../wire/capabilities.ts'

const Name = Capabilities.keyof()
type Name = z.infer<typeof Name>
const Flag = Name.exclude(['required', 'lengths'])

/** `taken_loosely`: text comes before a required call. `taken_short`: only short texts may be bounded. `ignored`: it has no effect. */
export type Support = 'taken' | 'taken_loosely' | 'taken_short' | 'refused' | 'ignored'

export type ProbedCapabilities = {
  /** Holds the last result of each; what never had one is absent. */
  support: { [name in Name]?: Support }
  /** Names those whose last probe had no result; they are probed again before the others. */
  unclear: readonly Name[]
  misses: number
}

export const nothingProbed: ProbedCapabilities = { support: {}, unclear: Name.options, misses: 0 }

type Lacks = { [name in Name]?: 'refused' | 'ignored' }

/** Assumes that what was never probed is taken. */
export function capabilitiesOf(probed: Pick<ProbedCapabilities, 'support'>): Capabilities {
  const lacks = lacksOf(probed)
  const capabilities = { ...allCapabilities }
  for (const name of Flag.options) capabilities[name] = lacks[name] === undefined
  if (probed.support.required === 'taken_loosely') capabilities.required = 'loose'
  if (lacks.required !== undefined) capabilities.required = 'none'
  if (probed.support.lengths === 'taken_short') capabilities.lengths = 'short'
  if (lacks.lengths !== undefined) capabilities.lengths = 'none'
  return capabilities
}

export function lacksOf({ support }: Pick<ProbedCapabilities, 'support'>): Lacks {
  const lacks: Lacks = {}
  for (const name of Name.options) {
    const ofName = support[name]
    if (ofName === 'refused' || ofName === 'ignored') lacks[name] = ofName
  }
  return lacks
}

const instead: { [name in keyof Capabilities]: string } = {
  systemRole: 'the system message goes into the first message of the user',
  tools: 'tools are described in the prompt, and calls are read from the text',
  auto: 'calls are read from the text',
  required: 'the text is held to the schema of a call, or a call is asked for in words',
  named: 'required, with that tool alone',
  strictSchemas: 'schemas go without additionalProperties',
  strictArguments: 'it is left out, and arguments may not fit their schema until they are checked',
  lengths: 'schemas go without maxLength, and a call may be cut before it is closed',
  parallelCalls: 'it is left out',
  toolMessages: 'calls and their results go as plain text',
  jsonSchema: 'bundles with grammar: json_schema use tool_choice',
  structuredOutputs:
    'calls are asked for with tool_choice; where no server takes it, the operations of such a bundle end',
  streamUsage: 'tokens of streamed replies are estimated',
}

export function lacksText(lacks: Lacks): string[] {
  return Name.options.flatMap((name) => {
    const how = lacks[name]
    return how === undefined ? [] : [`${name} is ${how}: ${instead[name]}`]
  })
}
