import type { Conversation } from '../conversation.ts'

/** What the rehearsal model says next: a tool call, or words when it must not call. */
export type Move = { kind: 'call'; name: string; args: Record<string, unknown> } | { kind: 'say'; text: string }

export type SubmittedStatus = 'success' | 'failed' | 'skipped'

/** How a rule ends the conversation as it stands. */
export type Conclusion = { status: SubmittedStatus; summary: string; changedFiles: string[] }

/** Plays the bundles that it knows by their tools. All is pure: the same conversation gives the same move. */
export type Rule = {
  /** Whether it knows what to do with what is offered: by name, with schemas. */
  plays(tools: Conversation['tools']): boolean
  /** The next call, or undefined when nothing is left but to submit. */
  next(conversation: Conversation): Move | undefined
  conclude(conversation: Conversation): Conclusion
}

export function call(name: string, args: Record<string, unknown> = {}): Move {
  return { kind: 'call', name, args }
}

/** A rule plays where all the tools it needs are offered. */
export function offering(...needed: readonly string[]): Rule['plays'] {
  return (tools) => needed.every((name) => tools.has(name))
}
