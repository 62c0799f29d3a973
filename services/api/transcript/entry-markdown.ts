import { parseJson } from '#domain/json.ts'
import { code, fenced, fencedArguments, fencedValue, figure, lengthOfTime } from './markdown-text.ts'
import type {
  EntryOf,
  ExchangeView,
  HostCallView,
  RequestedCallView,
  ToolRunView,
  TranscriptEntry,
} from './transcript-schema.ts'

export type EntryManner = {
  /** When the conversation began, in milliseconds since the epoch. */
  startedAtMs: number
  /** Whether each reply says who gave it. */
  namesServers: boolean
}

/** What an entry is about, in paragraphs. */
export function entryMarkdown(entry: TranscriptEntry, manner: EntryManner): string[] {
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

/** Host calls are told in a line each: of what is longer only so much. */
const shownOfHostCall = 160

function messageParagraphs({ role, characters, content }: EntryOf<'message'>): string[] {
  const size = `${figure(characters)} characters`
  const heading = role === 'system' ? '## System prompt' : '## User'
  if (content === null) return [heading, `${size}, left out here: \`llm_log.include_full_prompts\` is false.`]
  return [heading, size, fenced(content)]
}

function modelParagraphs({ turn, exchange, reply }: EntryOf<'model'>, manner: EntryManner): string[] {
  const began = exchange === null ? '' : ` (at ${lengthOfTime(Date.parse(exchange.started_at) - manner.startedAtMs)})`
  const figures =
    exchange === null
      ? []
      : [
          exchangeLines(exchange, manner)
            .map((line) => `- ${line}`)
            .join('\n'),
        ]
  if (reply === null) return [`## Turn ${turn}: the request failed${began}`, ...figures, ...faultOf(exchange)]
  const said = reply.content === null || reply.content === '' ? [] : ['The model wrote:', fenced(reply.content)]
  const without = reply.tool_calls.length === 0 ? ['It called no tool.'] : []
  return [`## Turn ${turn}${began}`, ...figures, ...said, ...reply.tool_calls.flatMap(callParagraphs), ...without]
}

function faultOf(exchange: ExchangeView | null): string[] {
  if (exchange?.error === undefined) return []
  const { error_code: errorCode, message } = exchange.error
  return [`Error${errorCode === undefined ? '' : ` ${code(errorCode)}`}:`, fenced(message)]
}

function exchangeLines(exchange: ExchangeView, { namesServers }: EntryManner): string[] {
  const {
    first_token_ms: first,
    tokens_per_s: speed,
    tokens,
    tries = 1,
    workarounds = [],
    failed_tries: failed = [],
  } = exchange
  const { left_out: leftOut, endpoint, finish_reason: finish } = exchange
  const left = leftOut === 0 ? '' : `, ${figure(leftOut)} earlier ones left out to make it fit`
  const took = [
    lengthOfTime(exchange.duration_ms),
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

function callParagraphs({ name, arguments: given, parsed_from_content: fromContent, id }: RequestedCallView): string[] {
  const notes = [
    ...(fromContent === true ? ['read from the text of the reply'] : []),
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
    ...hostCallParagraphs(run.host_calls),
  ]
}

/** The model is told a long answer in part. */
function shownToModel(content: string, { result }: ToolRunView): string {
  const whole = (JSON.stringify(result) ?? '').length
  return content.length >= whole ? '' : `\n- the model was shown ${figure(content.length)} characters of it`
}

function hostCallParagraphs(calls: readonly HostCallView[]): string[] {
  if (calls.length === 0) return []
  return ['Its script asked the host:', calls.map((call) => `- ${hostCallLine(call)}`).join('\n')]
}

function hostCallLine({ name, args, answer, error }: HostCallView): string {
  const called = code(`${name}(${inBrief(args).slice(1, -1)})`)
  if (error !== undefined) return `${called} raised ${code(shortened(`${error.type}: ${error.message}`))}`
  return `${called} gave ${code(inBrief(answer))}`
}

function inBrief(value: unknown): string {
  return shortened(JSON.stringify(value) ?? 'nothing')
}

function shortened(text: string): string {
  return text.length <= shownOfHostCall
    ? text
    : `${text.slice(0, shownOfHostCall)}… (${figure(text.length)} characters)${text.slice(-1)}`
}

function questionParagraphs({ turn, question, choices, calls, host_calls: hostCalls }: EntryOf<'question'>): string[] {
  const [asking, ...left] = calls
  const rest = left.map(({ name }) => code(name)).join(', ')
  return [
    `## Turn ${turn}: a question to a person`,
    `${code(asking?.name ?? '')} asks:`,
    fenced(question),
    ...(choices === null ? [] : [choices.map((choice) => `- ${code(choice)}`).join('\n')]),
    ...hostCallParagraphs(hostCalls),
    ...(left.length === 0 ? [] : [`Still to be carried out after it: ${rest}.`]),
  ]
}
