import { filePath, lastResult } from '#rehearsal/conversation.ts'
import { call, offering, type Rule } from '#rehearsal/rule.ts'

/** Plays a terminal that reads no question: it counts the lines of its file. */
export const terminal: Rule = {
  plays: offering('run_command', 'submit_result'),
  next(conversation) {
    if (conversation.steps.some(({ tool }) => tool === 'run_command')) return undefined
    const command = ['wc', '-l', filePath(conversation) ?? 'README.md']
    return call('run_command', {
      command,
      why: 'The rehearsal model (no LLM) counts lines. Nobody has read the question.',
    })
  },
  conclude(conversation) {
    const ran = lastResult(conversation, 'run_command') !== undefined
    const summary = ran ? 'Counted the lines of its file. Nobody has read the question.' : 'The program did not run.'
    return { status: ran ? 'success' : 'failed', summary, changedFiles: [] }
  },
}
