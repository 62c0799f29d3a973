import { figure } from '#domain/figure.ts'
import { parseJson } from '#domain/json.ts'
import type {
  EntryOf,
  ExchangeView,
  ExternalCallView,
  RequestedCallView,
  ToolRunView,
  TranscriptEntry,
  TranscriptView,
} from '#schemas/transcript-schema.ts'
import { code, fenced, fencedArguments, fencedValue, lengthOfTime } from './markdown-text.ts'

/** Nothing of the conversation is cut. Every foreign text is in code, where it is neither Markdown nor a control sequence. */
export function transcriptMarkdown(transcript: TranscriptView): string {
  const heading = together([titleOf(transcript), listOf([...resultsOf(transcript), ...placeOf(transcript)])])
  const texts = entriesMarkdown(transcript, serversOf(transcript).length > 1)
  return [heading, ...texts, together(endingOf(transcript))].join('\n')
}

/** The same in parts for those who follow it: what it came to is at the end, since it is not known at the beginning. */
export const followedMarkdown = {
  heading: (transcript: TranscriptView) => together([titleOf(transcript), listOf(placeOf(transcript))]),
  entries: (transcript: TranscriptView) => entriesMarkdown(transcript, true),
  ending: (transcript: TranscriptView) => together([...endingOf(transcript), listOf(resultsOf(transcript))]),
}

function entriesMarkdown({ entries, started_at }: TranscriptView, namesServers: boolean): string[] {
  const manner = { startedAtMs: Date.parse(started_at), namesServers }
  return entries.map((entry) => together(entryMarkdown(entry, manner)))
}

const together = (paragraphs: readonly string[]) => `${paragraphs.join('\n\n')}\n`

function titleOf({ agent, node }: TranscriptView): string {
  return `# ${code(agent)} on ${code(node.path)} ${code(node.qualified_name)}`
}

function resultsOf(transcript: TranscriptView): string[] {
  const { status, outcome, evidence, model } = transcript
  const servers = serversOf(transcript)
  const failed = outcome?.error_code === undefined ? '' : ` ${code(outcome.error_code)}`
  const at = servers.length === 0 ? '' : ` at ${servers.map(code).join(', ')}`
  return [
    `status: ${status}${failed}${outcome === null ? ', not ended with these entries' : ''}`,
    `model: ${model === '' ? 'none answered' : code(model)}${at}`,
    costOf(transcript),
    ...changeOf(transcript),
    ...evidence.map(evidenceLine),
  ]
}

function placeOf({
  node,
  run_id: runId,
  operation_id: operationId,
  attempt,
  attempts,
  ...more
}: TranscriptView): string[] {
  const { started_at: startedAt, record_hash: hash, bundle_hash: bundleHash } = more
  const others = attempts.filter((one) => one !== attempt)
  const apart = others.length === 0 ? '' : ` (others with a conversation of their own: ${others.join(', ')})`
  return [
    `node: ${node.kind}, ${node.language}, lines ${node.start_line}-${node.end_line}`,
    `run ${code(runId)}, operation ${code(operationId)}, attempt ${attempt}${apart}`,
    `began ${startedAt}; times are from there`,
    `${hash === null ? '' : `record ${code(hash)}, `}bundle ${code(bundleHash)}`,
  ]
}

function evidenceLine({ check, of, path, ok, tool, ...more }: TranscriptView['evidence'][number]): string {
  const { version = '', detail = '' } = more
  if (of !== undefined) return `${check.replaceAll('_', ' ')}: ${of} of ${code(path)} (${detail})`
  return `${ok ? 'proved' : 'not proved'}: ${check} of ${code(path)} (${`${tool} ${version}`.trim()})`
}

function serversOf({ entries }: TranscriptView): string[] {
  return [...new Set(entries.flatMap((entry) => (entry.kind === 'model' ? (entry.exchange?.endpoint ?? []) : [])))]
}

function costOf({ entries, outcome }: TranscriptView): string {
  const requests = entries.filter((entry) => entry.kind === 'model')
  const replies = requests.filter(({ reply }) => reply !== null)
  const failed = requests.length - replies.length
  const sum = (part: 'prompt' | 'completion') =>
    replies.reduce((total, { exchange }) => total + (exchange?.tokens?.[part] ?? 0), 0)
  const { prompt, completion } = outcome?.tokens ?? { prompt: sum('prompt'), completion: sum('completion') }
  return [
    `turns: ${outcome?.turns ?? replies.length}`,
    `${figure(prompt)} tokens in, ${figure(completion)} out`,
    ...(outcome === null ? [] : [lengthOfTime(outcome.duration_ms)]),
    ...(failed === 0 ? [] : [failed === 1 ? '1 request failed' : `${failed} requests failed`]),
  ].join(' · ')
}

function changeOf({ outcome }: TranscriptView): string[] {
  const { change_set_id: single, change_set_ids: several = single === undefined ? [] : [single] } = outcome ?? {}
  if (outcome === null || several.length === 0) return []
  const sets = `change ${several.length === 1 ? 'set' : 'sets'} ${several.map(code).join(', ')}`
  return [`${sets} of ${outcome.changed_files.map(code).join(', ')}`]
}

function endingOf({ outcome, status, attempt, attempts, run_id: runId }: TranscriptView): string[] {
  if (outcome === null) {
    if (attempts.some((later) => later > attempt))
      return ['## Given up', 'The attempt was handed back, or its worker was lost.']
    const next = status === 'waiting' ? `\`remora answer ${runId}\` lists what is asked.` : 'It goes on from here.'
    return ['## Not ended', `The operation is ${status}. ${next}`]
  }
  const { error_code: errorCode, phase, reason, summary } = outcome
  const by = errorCode === undefined ? '' : `: ${code(errorCode)}${phase === undefined ? '' : ` (${phase})`}`
  return [
    `## Outcome: ${outcome.status}${by}`,
    ...(summary === '' ? [] : [fenced(summary)]),
    ...(reason === undefined || reason === summary ? [] : ['Reason:', fenced(reason)]),
  ]
}

type EntryManner = {
  /** It is in milliseconds since the epoch. */
  startedAtMs: number
  namesServers: boolean
}

function entryMarkdown(entry: TranscriptEntry, manner: EntryManner): string[] {
  switch (entry.kind) {
    case 'message':
      return messageParagraphs(entry)
    case 'model':
      return modelParagraphs(entry, manner)
    case 'tool':
      return toolParagraphs(entry)
    case 'question':
      return questionParagraphs(entry)
  }
}

const shownOfExternalCall = 160

function messageParagraphs({ role, characters, content }: EntryOf<'message'>): string[] {
  const size = `${figure(characters)} characters`
  const heading = role === 'system' ? '## System prompt' : '## User'
  if (content === null) return [heading, `${size}, left out here: \`llm_log.include_full_prompts\` is false.`]
  return [heading, size, fenced(content)]
}

function modelParagraphs({ turn, exchange, reply }: EntryOf<'model'>, manner: EntryManner): string[] {
  const began = exchange === null ? '' : ` (at ${lengthOfTime(Date.parse(exchange.started_at) - manner.startedAtMs)})`
  const figures = exchange === null ? [] : [listOf(exchangeLines(exchange, manner))]
  if (reply === null) return [`## Turn ${turn}: the request failed${began}`, ...figures, ...faultOf(exchange)]
  const text = reply.content === null || reply.content === '' ? [] : ['The model wrote:', fenced(reply.content)]
  const without = reply.tool_calls.length === 0 ? ['It called no tool.'] : []
  return [`## Turn ${turn}${began}`, ...figures, ...text, ...reply.tool_calls.flatMap(callParagraphs), ...without]
}

function faultOf(exchange: ExchangeView | null): string[] {
  if (exchange?.error === undefined) return []
  const { error_code: errorCode, message } = exchange.error
  return [`Error${errorCode === undefined ? '' : ` ${code(errorCode)}`}:`, fenced(message)]
}

function exchangeLines(exchange: ExchangeView, { namesServers }: EntryManner): string[] {
  const { tokens, endpoint, tries = 1, workarounds = [], failed_tries: failed = [] } = exchange
  const { first_token_ms: first, tokens_per_s: speed, left_out: leftOut, finish_reason: finish } = exchange
  const { queue_ms: queued } = exchange
  const left = leftOut === 0 ? '' : `, ${figure(leftOut)} earlier ones left out to make it fit`
  const took = [
    lengthOfTime(exchange.duration_ms),
    ...(queued === undefined ? [] : [`${lengthOfTime(queued)} of it waiting for a slot`]),
    ...(first === undefined ? [] : [`first token after ${lengthOfTime(first)}`]),
    ...(tokens === undefined ? [] : [`${figure(tokens.prompt)} tokens in, ${figure(tokens.completion)} out`]),
    ...(speed === undefined ? [] : [`${figure(speed)} tokens/s`]),
  ]
  return [
    `asked with ${figure(exchange.messages)} messages${left}; tool choice ${code(exchange.tool_choice)}`,
    `took ${took.join(' · ')}${finish === undefined ? '' : `; finish reason ${code(finish)}`}`,
    ...(namesServers && endpoint !== undefined ? [`by ${code(exchange.model)} at ${code(endpoint)}`] : []),
    ...(tries === 1 ? [] : [`sent ${tries} times until it was answered`]),
    ...failed.map(failedTryLine),
    ...workarounds.map((workaround) => `worked around: ${code(workaround)}`),
  ]
}

function failedTryLine(tried: NonNullable<ExchangeView['failed_tries']>[number]): string {
  const after = `failed after ${lengthOfTime(tried.duration_ms)}`
  return `the try at ${code(tried.endpoint)} ${after}: ${code(tried.error_code)} ${code(tried.message)}`
}

function callParagraphs({ name, arguments: given, id, ...from }: RequestedCallView): string[] {
  const notes = [
    ...(from.by_code === true ? ['made by code'] : []),
    ...(from.parsed_from_content === true ? ['read from the text of the reply'] : []),
    ...(parseJson(given) === undefined ? ['its arguments are not JSON'] : []),
  ]
  const noted = notes.length === 0 ? '' : ` (${notes.join('; ')})`
  return [`### Call ${code(name)} ${code(id)}${noted}`, fencedArguments(given)]
}

function toolParagraphs({ name, call_id: id, content, run }: EntryOf<'tool'>): string[] {
  const heading = `### Answer of ${code(name)} ${code(id)}`
  if (run === null) return [heading, fenced(content)]
  const script = run.script_ms === undefined ? '' : `, its script ${lengthOfTime(run.script_ms)}`
  const errorCode = run.error_code === undefined ? '' : ` ${code(run.error_code)}`
  return [
    `${heading}: ${run.outcome}${errorCode}`,
    `- took ${lengthOfTime(run.duration_ms)}${script}\n- summary: ${code(run.summary)}${shownToModel(content, run)}`,
    ...(run.error === undefined || run.error === run.summary ? [] : ['Error:', fenced(run.error)]),
    ...(run.result === undefined || run.result === null ? [] : [fencedValue(run.result)]),
    ...(run.printed === undefined ? [] : ['Printed:', fenced(run.printed)]),
    ...externalCallParagraphs(run.host_calls),
  ]
}

/** The model gets only a part of a long answer. */
function shownToModel(content: string, { result }: ToolRunView): string {
  const whole = (JSON.stringify(result) ?? '').length
  return content.length >= whole ? '' : `\n- the model was shown ${figure(content.length)} characters of it`
}

function externalCallParagraphs(calls: readonly ExternalCallView[]): string[] {
  if (calls.length === 0) return []
  return ['Its script asked the host:', listOf(calls.map(externalCallLine))]
}

function externalCallLine({ name, args, answer, error }: ExternalCallView): string {
  const called = code(`${name}(${inBrief(args).slice(1, -1)})`)
  if (error !== undefined) return `${called} raised ${code(shortened(`${error.type}: ${error.message}`))}`
  return `${called} gave ${code(inBrief(answer))}`
}

function inBrief(value: unknown): string {
  return shortened(JSON.stringify(value) ?? 'nothing')
}

function shortened(text: string): string {
  return text.length <= shownOfExternalCall
    ? text
    : `${text.slice(0, shownOfExternalCall)}… (${figure(text.length)} characters)${text.slice(-1)}`
}

function questionParagraphs({ turn, question, choices, calls, host_calls: externals }: EntryOf<'question'>): string[] {
  const [asking, ...left] = calls
  const rest = left.map(({ name }) => code(name)).join(', ')
  return [
    `## Turn ${turn}: a question to a person`,
    `${code(asking?.name ?? '')} asks:`,
    fenced(question),
    ...(choices === null ? [] : [listOf(choices.map(code))]),
    ...externalCallParagraphs(externals),
    ...(left.length === 0 ? [] : [`Still to be carried out after it: ${rest}.`]),
  ]
}

function listOf(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join('\n')
}
