import { isRecord } from '#domain/json.ts'
import type { Conversation } from '../conversation.ts'
import { readValues, withoutValues } from './read-values.ts'
import { call, type Rule } from './rule.ts'

/** What `remora harness` and the bundle of that name offer, never all of them at once. */
const harnessTools = new Set([
  'report_node',
  'open_file',
  'set_timeout',
  'set_sample_rate',
  'set_verbose',
  'set_log_level',
  'add_labels',
  'register_server',
  'count_lines',
  'find_symbol',
  'restart_server',
])
/** Part of many names, and of many requests that are about something else. */
const saysNothing = new Set(['set', 'add', 'name'])
const tries = 2

/** Calls the tool whose name and arguments the request has most words of, with the values it names; skips when it has none. */
export const harness: Rule = {
  plays: (tools) => {
    const own = [...tools.keys()].filter((name) => name !== 'submit_result')
    return own.length > 0 && own.every((name) => harnessTools.has(name))
  },
  next(conversation) {
    const { steps, tools, userText } = conversation
    const isDone = steps.some(({ failed }) => !failed) || steps.length >= tries
    const tool = isDone ? undefined : meantTool(conversation)
    return tool === undefined ? undefined : call(tool, argumentsFor(tools.get(tool), userText))
  },
  conclude({ steps }) {
    if (steps.length === 0) return { status: 'skipped', summary: 'No tool fits the request.', changedFiles: [] }
    const done = steps.find(({ failed }) => !failed)
    return done === undefined
      ? { status: 'failed', summary: 'The tool did not work.', changedFiles: [] }
      : { status: 'success', summary: `Called ${done.tool}.`, changedFiles: [] }
  },
}

function meantTool({ tools, userText }: Conversation): string | undefined {
  const said = new Set(
    withoutValues(userText)
      .toLowerCase()
      .match(/[a-z]+/g),
  )
  const rated = [...tools]
    .filter(([name]) => name !== 'submit_result')
    .map(([name, schema]) => ({ name, shared: wordsOf(name, schema).filter((word) => said.has(word)).length }))
    .toSorted((one, other) => other.shared - one.shared)
  const [best] = rated
  return best === undefined || best.shared === 0 ? undefined : best.name
}

function wordsOf(name: string, schema: unknown): string[] {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? Object.keys(schema['properties']) : []
  const words = [name, ...properties].flatMap((one) => one.split('_'))
  return [...new Set(words)].filter((word) => !saysNothing.has(word))
}

/** The lines of a node are counted, not named. */
function argumentsFor(schema: unknown, userText: string): Record<string, unknown> {
  const code = /```[^\n]*\n(.*?)\n?```\s*$/s.exec(userText)?.[1]
  const named = readValues(schema, userText)
  return code === undefined ? named : { ...named, lines: code.split('\n').length }
}
