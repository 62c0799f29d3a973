/** Redis' error replies name their kind in their first word; that word, not the sentence after it, is the interface. */
export function isReply(error: unknown, kind: string): boolean {
  return error instanceof Error && error.name === 'ReplyError' && error.message.startsWith(`${kind} `)
}
