import { getOrMake } from '#platform/cached-answers.ts'
import { charactersPerToken, type Message, type ToolDefinition } from '#domain/turn.ts'

export type HistoryLimits = {
  maxMessages: number
  /** Limits a whole request, including its tools. Tokens are estimated until a server has counted a request. */
  maxContextTokens: number
}

export type Sent = {
  messages: readonly Message[]
  leftOut: number
  /** Is set when even the least that can be sent is over the limit, whatever the server's tokenizer: the tokens it needs. */
  tooLong?: { tokens: number; maxTokens: number }
}

/** Decides how much of a growing conversation each request holds. */
export type History = {
  fit(): Sent
  counted(promptTokens: number): void
  /** Leaves out half of the conversation, when the last request was too long for the server. False when nothing more can be left out. */
  halve(): boolean
}

export type HistoryOptions = HistoryLimits & {
  tools: readonly ToolDefinition[]
  note(leftOut: readonly Message[]): string
}

/** Reads `messages` as the array grows; the messages already in it must not change. */
export function openHistory(messages: readonly Message[], options: HistoryOptions): History {
  const { tools } = options
  const toolCharacters = toolCharactersOf(tools)
  let { maxContextTokens } = options
  let window = wholeWindow(messages)
  let head: { messages: readonly Message[]; start: number; note: string } | undefined
  const rate = openTokenRate()

  const around = () => toolCharacters + (head?.note.length ?? 0)
  const limits = (): WindowLimits => ({
    messages: options.maxMessages,
    characters: maxContextTokens / rate.likely() - around(),
  })
  const headFor = ({ head: end, start }: typeof window): readonly Message[] => {
    if (head?.start === start) return head.messages
    const note = options.note(messages.slice(end, start))
    head = { messages: withNote(messages.slice(0, end), note), start, note }
    return head.messages
  }
  const lengthOf = (): Pick<Sent, 'tooLong'> => {
    const tokens = Math.floor((window.characters + around()) * rate.least())
    const maxTokens = Math.max(0, Math.ceil(maxContextTokens))
    return tokens > maxTokens ? { tooLong: { tokens, maxTokens } } : {}
  }
  return {
    fit() {
      let shown = messages
      let start: number
      // A note on more messages may itself be longer, and push out another reply.
      do {
        start = window.start
        window = fitWindow(messages, window, limits())
        if (window.start > window.head) shown = headFor(window)
      } while (window.start > start)
      const leftOut = window.start - window.head
      if (leftOut === 0) return { messages, leftOut, ...lengthOf() }
      return { messages: [...shown, ...messages.slice(window.start)], leftOut, ...lengthOf() }
    },
    counted: (promptTokens) => rate.counted(promptTokens, window.characters + around()),
    halve() {
      const sent = window.characters + around()
      maxContextTokens = Math.min(maxContextTokens, sent * rate.likely())
      const half = { messages: Infinity, characters: window.characters / 2 }
      const { start } = window
      window = trimWindow(messages, window, half)
      return window.start > start
    },
  }
}

/** The note belongs to the first user message: many templates refuse two messages of one role in a row. */
function withNote(head: readonly Message[], note: string): Message[] {
  const first = head.findIndex(({ role }) => role === 'user')
  return head.map((message, at) =>
    at === first && message.role === 'user' ? { ...message, content: `${message.content}\n\n${note}` } : message,
  )
}

const countedTools = new WeakMap<readonly ToolDefinition[], number>()

function toolCharactersOf(tools: readonly ToolDefinition[]): number {
  return getOrMake(countedTools, tools, () => (tools.length === 0 ? 0 : JSON.stringify(tools).length))
}

/** Has the head of a conversation (all before the first reply) and everything from `start` on. `characters`: of both, up to `end`. */
type HistoryWindow = { head: number; start: number; end: number; characters: number }

type WindowLimits = { messages: number; characters: number }

/** Is the share of its limits to which a window is trimmed: the next requests then begin alike, which prefix caches reward. */
const trimmedShare = 3 / 4

function wholeWindow(messages: readonly Message[]): HistoryWindow {
  const reply = messages.findIndex(({ role }) => role === 'assistant')
  const head = reply === -1 ? messages.length : reply
  return { head, start: head, end: head, characters: charactersIn(messages, 0, head) }
}

function fitWindow(messages: readonly Message[], window: HistoryWindow, limits: WindowLimits): HistoryWindow {
  const { end, characters } = window
  const added = charactersIn(messages, end, messages.length)
  const grown = { ...window, end: messages.length, characters: characters + added }
  if (isWithin(grown, limits)) return grown
  return trimWindow(messages, grown, {
    messages: limits.messages * trimmedShare,
    characters: limits.characters * trimmedShare,
  })
}

/** Drops the oldest replies, each with its calls' results, until the window is within `limits`. The head and the newest reply stay. */
function trimWindow(messages: readonly Message[], window: HistoryWindow, limits: WindowLimits): HistoryWindow {
  let fitted = window
  while (!isWithin(fitted, limits)) {
    const next = replyAfter(messages, fitted.start)
    if (next === undefined) break
    const characters = fitted.characters - charactersIn(messages, fitted.start, next)
    fitted = { ...fitted, start: next, characters }
  }
  return fitted
}

function replyAfter(messages: readonly Message[], start: number): number | undefined {
  for (let at = start + 1; at < messages.length; at++) if (messages[at]?.role === 'assistant') return at
  return undefined
}

function isWithin({ head, start, end, characters }: HistoryWindow, limits: WindowLimits): boolean {
  return head + end - start <= limits.messages && characters <= limits.characters
}

function charactersIn(messages: readonly Message[], from: number, to: number): number {
  let characters = 0
  for (const message of messages.slice(from, to)) characters += charactersOf(message)
  return characters
}

const wrapping = 16

function charactersOf(message: Message): number {
  let characters = wrapping + (message.content?.length ?? 0)
  if (message.role !== 'assistant') return characters
  for (const call of message.toolCalls) characters += wrapping + call.name.length + call.arguments.length
  return characters
}

const guessed = 1 / charactersPerToken
/** No tokenizer makes fewer tokens of code and prose; only runs of blanks may have fewer. */
const leastGuessed = 1 / 8
/** A count outside of this range is of something else, such as the tokens the server had not cached. */
const plausible = { least: 1 / 16, most: 2 }

/** Guesses tokens per character until a server has counted a request; `least` is a lower bound. */
function openTokenRate() {
  let rate: number | undefined
  return {
    likely: () => rate ?? guessed,
    least: () => rate ?? leastGuessed,
    counted(tokens: number, characters: number) {
      const share = tokens / characters
      if (share >= plausible.least && share <= plausible.most) rate = share
    },
  }
}
