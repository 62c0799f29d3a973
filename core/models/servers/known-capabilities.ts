import type { Log } from '#platform/log.ts'
import type { Capabilities } from '../wire/capabilities.ts'
import { probeCapabilities, type ProbeDeps, type Probed } from './probe-capabilities.ts'
import { openRemembered } from './remembered.ts'

/** A server may come back as another version, or with other flags. */
const conclusiveMs = 10 * 60_000
const inconclusiveMs = 30_000

/** What is done instead of what a server lacks. */
const instead: { [name in keyof Capabilities]: string } = {
  systemRole: 'the system message goes into the first message of the user',
  tools: 'tools are told in the prompt, and calls read from the text',
  auto: 'calls are read from the text',
  required: 'the text is held to the schema of a call, or a call is asked for in words',
  named: 'required, with that tool alone',
  strictSchemas: 'schemas go without additionalProperties',
  parallelCalls: 'it is left out',
  toolMessages: 'calls and their results go as plain text',
  jsonSchema: 'bundles with grammar.strategy json_schema use tool_choice',
  structuralTag: 'bundles with grammar.strategy structural_tag use tool_choice',
  ebnf: 'bundles with grammar.strategy ebnf use tool_choice',
  streamUsage: 'tokens of streamed replies are not counted',
}

/**
 * What an endpoint takes, by model: probed when it is first asked for, again ten minutes later, or half a minute later when
 * something stayed unclear. What it lacks is logged once, and once more whenever that changes.
 */
export function openKnownCapabilities(deps: ProbeDeps & { endpoint: string; log?: Pick<Log, 'warn'> | undefined }): {
  of(model: string, signal: AbortSignal): Promise<Capabilities>
} {
  const told = new Map<string, string>()
  const tell = (model: string, { lacks }: Probed) => {
    const text = JSON.stringify(lacks)
    if (text === (told.get(model) ?? '{}')) return
    told.set(model, text)
    deps.log?.warn('the model server does not take every request as it is', {
      endpoint: deps.endpoint,
      model,
      lacks: lacksText(lacks),
    })
  }
  const known = openRemembered<Probed>({
    async load(model) {
      const probed = await probeCapabilities(model, deps)
      tell(model, probed)
      return probed
    },
    keepMs: ({ conclusive }) => (conclusive ? conclusiveMs : inconclusiveMs),
  })
  return { of: async (model, signal) => (await known.get(model, signal)).capabilities }
}

function lacksText(lacks: Probed['lacks']): string[] {
  return keysOf(instead).flatMap((name) => {
    const how = lacks[name]
    return how === undefined ? [] : [`${name} is ${how}: ${instead[name]}`]
  })
}

function keysOf<K extends string>(record: { [key in K]: unknown }): K[] {
  return Object.keys(record).filter((key): key is K => Object.hasOwn(record, key))
}
