import type { Conversation } from '../conversation.ts'

/** What the rehearsal model says next: a tool call, or words when it must not call. */
export type Move = { kind: 'call'; name: string; args: Record<string, unknown> } | { kind: 'say'; text: string }

export type SubmittedStatus = 'success' | 'failed' | 'skipped'

/** How a rule ends the conversation as it stands. */
export type Conclusion = { status: SubmittedStatus; summary: string; changedFiles: string[] }

/** Plays the bundle that offers these tools. Both are pure: the same conversation gives the same move. */
export type Rule = {
  tools: readonly string[]
  /** The next call, or undefined when nothing is left but to submit. */
  next(conversation: Conversation): Move | undefined
  conclude(conversation: Conversation): Conclusion
}

export function call(name: string, args: Record<string, unknown> = {}): Move {
  return { kind: 'call', name, args }
}
