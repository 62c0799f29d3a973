import type { Conversation } from './conversation.ts'

/** The rehearsal model's reply: a tool call, or text when it must not call. */
export type Move = { kind: 'call'; name: string; args: Record<string, unknown> } | { kind: 'say'; text: string }

export type Conclusion = { status: 'success' | 'failed' | 'skipped'; summary: string; changedFiles: string[] }

/** Plays the bundles whose tools it knows. Pure: the same conversation gives the same move. */
export type Rule = {
  plays(tools: Conversation['tools']): boolean
  /** The next call, or undefined when only the submission is left. */
  next(conversation: Conversation): Move | undefined
  conclude(conversation: Conversation): Conclusion
}

export function call(name: string, args: Record<string, unknown> = {}): Move {
  return { kind: 'call', name, args }
}

export function offering(...needed: readonly string[]): Rule['plays'] {
  return (tools) => needed.every((name) => tools.has(name))
}
