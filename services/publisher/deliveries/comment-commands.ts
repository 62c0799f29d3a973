import { randomUUID } from 'node:crypto'
import { plainLineStarts } from '#markdown/plain-line-starts.ts'

export type CommentCommand = { text: string; verb: string; argument: string | undefined }

const commandForm = /^\/remora(?:[ \t]+(\S+)(?:[ \t]+(\S.*?))?)?[ \t]*$/
/**
 * The commands of a comment, one a line, at its beginning. Only what people read as plain text counts: a line in a block of code or in a
 * span of it, in a quotation, a list or a table, in an HTML comment or in an element that hides or quotes, is no command.
 */
export function commandsOf(text: string): CommentCommand[] {
  const lines = text.split(/\r\n|\r|\n/)
  const found = new Map<string, CommentCommand>()
  const mark = `remora${randomUUID().replaceAll('-', '')}`
  // A word without a meaning in Markdown stands for each command, so that it is found again where it is read as text.
  const marked = lines.map((line, at) => {
    const [whole, verb = 'help', argument] = commandForm.exec(line) ?? []
    if (whole === undefined) return line
    const word = `${mark}x${at}x`
    found.set(word, { text: whole.trim(), verb, argument })
    return line.replace('/remora', word)
  })
  const words = found.size === 0 ? [] : plainLineStarts(marked.join('\n'))
  return words.flatMap((start) => found.get(/^\w+/.exec(start)?.[0] ?? '') ?? [])
}
