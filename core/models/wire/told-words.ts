/**
 * The words in which a request tells what a server takes no field for. The rehearsal model reads them back: it plays a model
 * that understands them, by patterns made of them, so they hold nothing that means more in one.
 */
export const toldWords = {
  /** Before the tools' definitions, one JSON a line. */
  listing: 'Tools:',
  /** Before the names of the tools that a call in text may have. */
  names: 'Tools: ',
  callNow: 'Call one of these tools now and say nothing else: ',
  mayWriteCall: 'To call a tool, answer with this JSON and nothing else: ',
  mustWriteCall: 'Answer with one tool call as this JSON and nothing else: ',
} as const

/** Before the result of a call of this tool, in a conversation without tool messages. */
export function resultWords(tool: string): string {
  return `Result of ${tool}: `
}
