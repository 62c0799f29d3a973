import { isRecord } from '#domain/json.ts'
import type { ChatRequest } from './chat-request.ts'
import { type Conversation, filePath, lastResult, readConversation } from './conversation.ts'
import { docstring } from '#agents/docstring/host/rehearsal.ts'
import { harness } from '#agents/harness/host/rehearsal.ts'
import { lint } from '#agents/lint/host/rehearsal.ts'
import { research } from '#agents/researcher/host/rehearsal.ts'
import { review } from '#agents/review/host/rehearsal.ts'
import { sampleData } from '#agents/sample_data/host/rehearsal.ts'
import { terminal } from '#agents/terminal/host/rehearsal.ts'
import { testWriting } from '#agents/test/host/rehearsal.ts'
import { call, type Conclusion, type Move, offering, type Rule } from './rule.ts'
import { rehearsalLabel } from '#domain/model-kind.ts'
import { plannerDetails } from './planner-policies.ts'

/** The rehearsal model's reply, by rules alone: the same request gives the same move. */
export function nextMove(request: ChatRequest): Move {
  const conversation = readConversation(request)
  const choice = request.tool_choice
  const tool = conversation.tools.size === 0 ? askedAlone(request) : undefined
  if (tool !== undefined) return { kind: 'say', text: JSON.stringify(askedArguments(tool, conversation)) }
  if (choice === 'none' || conversation.tools.size === 0) {
    return { kind: 'say', text: 'The rehearsal model only calls tools.' }
  }
  const typed = typedMove(request.model, conversation)
  if (typed !== undefined) return typed
  const rule = rules.find(({ plays }) => plays(conversation.tools)) ?? anyTools
  if (typeof choice === 'string') return rule.next(conversation) ?? submit(rule, conversation)
  const { name } = choice.function
  if (name === 'submit_result') return submit(rule, conversation)
  const next = rule.next(conversation)
  if (next?.kind === 'call' && next.name === name) return next
  return call(name, plainArguments(conversation.tools.get(name), conversation))
}

function submit(rule: Rule, conversation: Conversation): Move {
  return call('submit_result', submissionArgs(rule.conclude(conversation), conversation.tools.get('submit_result')))
}

type AskedAlone = { name: string; schema: unknown }

function askedAlone({ response_format: format }: ChatRequest): AskedAlone | undefined {
  const form = format?.['json_schema']
  return isRecord(form) ? { name: String(form['name']), schema: form['schema'] } : undefined
}

function askedArguments({ name, schema }: AskedAlone, conversation: Conversation): unknown {
  const tools = new Map([[name, schema]])
  const next = rules.find(({ plays }) => plays(tools))?.next({ ...conversation, tools })
  return next?.kind === 'call' && next.name === name ? next.args : plainArguments(schema, conversation)
}

/** Only the properties that the offered schema declares, if it declares any. */
function submissionArgs(conclusion: Conclusion, schema: unknown): Record<string, unknown> {
  const { status, summary, changedFiles } = conclusion
  const all = { status, summary, changed_files: changedFiles, details: {} }
  const properties = isRecord(schema) ? schema['properties'] : undefined
  if (!isRecord(properties)) return all
  return Object.fromEntries(Object.entries(all).filter(([key]) => Object.hasOwn(properties, key)))
}

const rewriteFile: Rule = {
  plays: offering('read_file', 'write_file', 'submit_result'),
  next(conversation) {
    const done = (tool: string) => conversation.steps.some((step) => step.tool === tool)
    const path = filePath(conversation) ?? 'README.md'
    if (!done('read_file')) return call('read_file', { path })
    const content = readContent(conversation)
    if (content === undefined || done('write_file')) return undefined
    return call('write_file', { path, content: `${content.trimEnd()}\n` })
  },
  conclude(conversation) {
    const path = filePath(conversation)
    const written = lastResult(conversation, 'write_file') !== undefined
    if (!written) return { status: 'failed', summary: 'The file was not written.', changedFiles: [] }
    return { status: 'success', summary: 'Wrote the file back.', changedFiles: path === undefined ? [] : [path] }
  },
}

function readContent(conversation: Conversation): string | undefined {
  const result = lastResult(conversation, 'read_file')
  if (typeof result === 'string') return result
  return isRecord(result) && typeof result['content'] === 'string' ? result['content'] : undefined
}

/** Plays a bundle that no other rule knows: calls each tool once, in order, with the simplest arguments its schema accepts, and submits. */
const anyTools: Rule = {
  plays: () => true,
  next(conversation) {
    const called = new Set(conversation.steps.map(({ tool }) => tool))
    const next = [...conversation.tools].find(([name]) => name !== 'submit_result' && !called.has(name))
    return next === undefined ? undefined : call(next[0], plainArguments(next[1], conversation))
  },
  conclude({ steps }) {
    const tools = [...new Set(steps.filter(({ failed }) => !failed).map(({ tool }) => tool))]
    if (tools.length === 0) {
      const status = steps.length === 0 ? 'skipped' : 'failed'
      return { status, summary: steps.length === 0 ? 'There is no tool to call.' : 'No tool worked.', changedFiles: [] }
    }
    return { status: 'success', summary: `Called each tool once: ${tools.join(', ')}.`, changedFiles: [] }
  },
}

const rules: readonly Rule[] = [
  lint,
  docstring,
  research,
  review,
  testWriting,
  sampleData,
  terminal,
  rewriteFile,
  harness,
]

/** Only the required arguments; a path is the file that the conversation is about. */
function plainArguments(schema: unknown, conversation: Conversation): Record<string, unknown> {
  if (!isRecord(schema) || !isRecord(schema['properties']) || !Array.isArray(schema['required'])) return {}
  const required = new Set<unknown>(schema['required'])
  return Object.fromEntries(
    Object.entries(schema['properties'])
      .filter(([name]) => required.has(name))
      .map(([name, property]) => [name, plainValue(name, property, conversation)]),
  )
}

function plainValue(name: string, property: unknown, conversation: Conversation): unknown {
  const { type, enum: values, minimum, anyOf } = isRecord(property) ? property : {}
  if (Array.isArray(values)) return values[0]
  if (Array.isArray(anyOf)) return plainValue(name, anyOf[0], conversation)
  switch (type) {
    case 'string':
      return name.includes('path') ? (filePath(conversation) ?? 'README.md') : 'rehearsal'
    case 'integer':
    case 'number':
      return typeof minimum === 'number' ? minimum : 1
    case 'boolean':
      return false
    case 'array':
      return []
    case 'object':
      return {}
    default:
      return null
  }
}

const troubleLine = /^Trouble looked for: (\w+)$/m

/** Answers what is asked for by the form of a submission alone: an answer about a run, a review, a decision. Undefined where nothing is. */
function typedMove(model: string, conversation: Conversation): Move | undefined {
  const form = formOf(conversation.tools)
  const details = form === undefined ? undefined : detailsFor(form, model, conversation)
  if (details === undefined) return undefined
  return call('submit_result', { status: 'success', summary: `Answered by the ${rehearsalLabel}.`, details })
}

/** Names the form, where nothing else is offered. */
function formOf(tools: Conversation['tools']): string | undefined {
  const schema = tools.get('submit_result')
  if (tools.size !== 1 || !isRecord(schema) || !isRecord(schema['properties'])) return undefined
  const { details } = schema['properties']
  return isRecord(details) && typeof details['title'] === 'string' ? details['title'] : undefined
}

/** Neither a question nor a run is read, nothing is judged, and every trouble that is shown is raised. */
function detailsFor(form: string, model: string, conversation: Conversation): object | undefined {
  if (form === 'ask') {
    const text = `This is the ${rehearsalLabel}: nobody has read the question, or the run.`
    return { text, events: [1], paths: [], findings: [] }
  }
  if (form !== 'review') return plannerDetails(model, conversation)
  const kind = troubleLine.exec(conversation.userText)?.[1] ?? ''
  const rationale = 'The rehearsal model raises every trouble that it is shown.'
  const escalation = { kind, urgency: 'medium', affected: [], mitigation: 'notify', rationale, dedup_key: kind }
  return { escalations: [escalation] }
}
