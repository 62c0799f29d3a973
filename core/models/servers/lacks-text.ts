import type { Capabilities } from '../wire/capabilities.ts'
import type { Lacks } from './findings.ts'

/** What is done instead of what a server lacks. */
const instead: { [name in keyof Capabilities]: string } = {
  systemRole: 'the system message goes into the first message of the user',
  tools: 'tools are told in the prompt, and calls read from the text',
  auto: 'calls are read from the text',
  required: 'the text is held to the schema of a call, or a call is asked for in words',
  named: 'required, with that tool alone',
  strictSchemas: 'schemas go without additionalProperties',
  strictArguments: 'it is left out, and arguments may not fit their schema until they are checked',
  parallelCalls: 'it is left out',
  toolMessages: 'calls and their results go as plain text',
  jsonSchema: 'bundles with grammar.strategy json_schema use tool_choice',
  structuralTag: 'bundles with grammar.strategy structural_tag use tool_choice',
  ebnf: 'bundles with grammar.strategy ebnf use tool_choice',
  streamUsage: 'tokens of streamed replies are estimated',
}

/** For the operator: what a server lacks, and what that means. */
export function lacksText(lacks: Lacks): string[] {
  return keysOf(instead).flatMap((name) => {
    const how = lacks[name]
    return how === undefined ? [] : [`${name} is ${how}: ${instead[name]}`]
  })
}

function keysOf<K extends string>(record: { [key in K]: unknown }): K[] {
  return Object.keys(record).filter((key): key is K => Object.hasOwn(record, key))
}
