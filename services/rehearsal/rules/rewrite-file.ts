import { isRecord } from '#domain/json.ts'
import { filePath, lastResult, type Conversation } from '../conversation.ts'
import { call, offering, type Rule } from './rule.ts'

/** Reads the file the user names, writes it back as it was but for one newline at its end, submits. */
export const rewriteFile: Rule = {
  plays: offering('read_file', 'write_file', 'submit_result'),
  next(conversation) {
    const done = (tool: string) => conversation.steps.some((step) => step.tool === tool)
    const path = filePath(conversation) ?? 'README.md'
    if (!done('read_file')) return call('read_file', { path })
    const content = readContent(conversation)
    if (content === undefined || done('write_file')) return undefined
    return call('write_file', { path, content: `${content.trimEnd()}\n` })
  },
  conclude(conversation) {
    const path = filePath(conversation)
    const written = lastResult(conversation, 'write_file') !== undefined
    if (!written) return { status: 'failed', summary: 'The file was not written.', changedFiles: [] }
    return { status: 'success', summary: 'Wrote the file back.', changedFiles: path === undefined ? [] : [path] }
  },
}

function readContent(conversation: Conversation): string | undefined {
  const result = lastResult(conversation, 'read_file')
  if (typeof result === 'string') return result
  return isRecord(result) && typeof result['content'] === 'string' ? result['content'] : undefined
}
