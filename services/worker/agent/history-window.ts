import type { Message } from '#domain/turn.ts'

/**
 * What of a conversation is sent: its head (all before the first reply), and all from `start` on. `characters` is what
 * both weigh, up to `end`.
 */
export type HistoryWindow = { head: number; start: number; end: number; characters: number }

/** The most one request may hold. */
export type WindowLimits = { messages: number; characters: number }

/**
 * Trimmed, a window is left this much room to grow: the next requests then begin as the last one did, which servers with a
 * prefix cache are fast at, instead of each leaving out one more reply.
 */
const trimmedShare = 3 / 4

/** A window over the whole conversation, which is weighed when it is first fitted. */
export function wholeWindow(messages: readonly Message[]): HistoryWindow {
  const reply = messages.findIndex(({ role }) => role === 'assistant')
  const head = reply === -1 ? messages.length : reply
  return { head, start: head, end: head, characters: weighed(messages, 0, head) }
}

/** The window with what was said since, trimmed when that crosses a limit. Costs as much as what is new. */
export function fitWindow(messages: readonly Message[], window: HistoryWindow, limits: WindowLimits): HistoryWindow {
  const { end, characters } = window
  const added = weighed(messages, end, messages.length)
  const grown = { ...window, end: messages.length, characters: characters + added }
  if (isWithin(grown, limits)) return grown
  return trimWindow(messages, grown, {
    messages: limits.messages * trimmedShare,
    characters: limits.characters * trimmedShare,
  })
}

/**
 * The window without its oldest replies, until it is within `limits`. A reply, its calls' results and what the loop said
 * to it go together. The head and the newest reply stay, whatever they weigh.
 */
export function trimWindow(messages: readonly Message[], window: HistoryWindow, limits: WindowLimits): HistoryWindow {
  let fitted = window
  while (!isWithin(fitted, limits)) {
    const next = replyAfter(messages, fitted.start)
    if (next === undefined) break
    const characters = fitted.characters - weighed(messages, fitted.start, next)
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

function weighed(messages: readonly Message[], from: number, to: number): number {
  let characters = 0
  for (const message of messages.slice(from, to)) characters += weightOf(message)
  return characters
}

/** About what a chat template writes around a message or a call. */
const wrapping = 16

/** In characters, as a server's template writes the message. */
function weightOf(message: Message): number {
  let characters = wrapping + (message.content?.length ?? 0)
  if (message.role !== 'assistant') return characters
  for (const call of message.toolCalls) characters += wrapping + call.name.length + call.arguments.length
  return characters
}
