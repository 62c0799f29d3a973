import { isRecord } from '#domain/json.ts'
import type { ChatRequest } from './chat-request.ts'
import { readConversation, type Conversation } from './conversation.ts'
import { anyTools } from './rules/any-tools.ts'
import { docstring } from './rules/docstring.ts'
import { harness } from './rules/harness.ts'
import { lint } from './rules/lint.ts'
import { rewriteFile } from './rules/rewrite-file.ts'
import { call, type Conclusion, type Move, type Rule } from './rules/rule.ts'

/** The first that can plays; where none can, `anyTools`. */
const rules: readonly Rule[] = [lint, docstring, rewriteFile, harness]

/** What the rehearsal model does next, by rules alone: the same request gives the same move. */
export function nextMove(request: ChatRequest): Move {
  const conversation = readConversation(request)
  const choice = request.tool_choice
  if (choice === 'none' || conversation.tools.size === 0) {
    return { kind: 'say', text: 'The rehearsal model only calls tools.' }
  }
  const rule = rules.find(({ plays }) => plays(conversation.tools)) ?? anyTools
  if (typeof choice === 'string') return rule.next(conversation) ?? submit(rule, conversation)
  const { name } = choice.function
  return name === 'submit_result' ? submit(rule, conversation) : call(name)
}

function submit(rule: Rule, conversation: Conversation): Move {
  return call('submit_result', submissionArgs(rule.conclude(conversation), conversation.tools.get('submit_result')))
}

/** Only what the offered schema declares, when it declares anything: tool sets differ in how much they ask for. */
function submissionArgs(conclusion: Conclusion, schema: unknown): Record<string, unknown> {
  const { status, summary, changedFiles } = conclusion
  const all = { status, summary, changed_files: changedFiles, details: {} }
  const properties = isRecord(schema) ? schema['properties'] : undefined
  if (!isRecord(properties)) return all
  return Object.fromEntries(Object.entries(all).filter(([key]) => Object.hasOwn(properties, key)))
}
