import type { Message, ToolDefinition } from '#domain/turn.ts'
import { fitWindow, trimWindow, wholeWindow, type WindowLimits } from './history-window.ts'
import { openTokenRate } from './token-rate.ts'

export type HistoryLimits = {
  maxMessages: number
  /** Of a whole request, its tools included; estimated, until a server has counted. */
  maxContextTokens: number
}

export type Sent = {
  messages: readonly Message[]
  leftOut: number
  /** Set when even the least that can be sent is over the limit, whatever the server's tokens are: what it needs. */
  tooLong?: { tokens: number; maxTokens: number }
}

/** What of a growing conversation each request holds. */
export type History = {
  /** The messages to send now; the conversation itself while it is within its limits. */
  fit(): Sent
  /** What the server counted of the last request: how many characters a token has here. */
  counted(promptTokens: number): void
  /** The last request was too long for the server: half of the conversation is left out. False when nothing more can be. */
  halve(): boolean
}

export type HistoryOptions = HistoryLimits & {
  tools: readonly ToolDefinition[]
  /** What is said in place of what is left out; asked whenever more is. */
  note(leftOut: readonly Message[]): string
}

/** Reads `messages` as they grow; nothing may change in those that are there. */
export function openHistory(messages: readonly Message[], options: HistoryOptions): History {
  const { tools } = options
  const toolCharacters = charactersOf(tools)
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
    const said = options.note(messages.slice(end, start))
    head = { messages: withNote(messages.slice(0, end), said), start, note: said }
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
      // What is said of more that is left out may be longer itself.
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

/** By the definitions' array, which lives as long as its bundle. */
const weighedTools = new WeakMap<readonly ToolDefinition[], number>()

function charactersOf(tools: readonly ToolDefinition[]): number {
  const known = weighedTools.get(tools)
  if (known !== undefined) return known
  const characters = tools.length === 0 ? 0 : JSON.stringify(tools).length
  weighedTools.set(tools, characters)
  return characters
}
