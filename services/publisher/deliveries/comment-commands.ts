import { randomUUID } from 'node:crypto'
import MarkdownIt from 'markdown-it'

export type CommentCommand = { text: string; verb: string; argument: string | undefined }

const parser = new MarkdownIt({ html: true })
/** Text inside these blocks is quoted, hidden or code, also behind an empty line, where Markdown goes on. */
const enclosing = /<(\/?)(?:details|pre|code|blockquote|template|script|style|textarea|table)\b[^<>]*>/gi
const commandForm = /^\/remora(?:[ \t]+(\S+)(?:[ \t]+(\S.*?))?)?[ \t]*$/
/** A command begins a line of plain text: no code, quotation, list, table or HTML comment. */
export function commandsOf(text: string): CommentCommand[] {
  const lines = text.split(/\r\n|\r|\n/)
  const commands = new Map<string, CommentCommand>()
  const mark = `remora${randomUUID().replaceAll('-', '')}`
  // A word without a meaning in Markdown stands for each command, so that it is found again where it is read as text.
  const marked = lines.map((line, at) => {
    const [whole, verb = 'help', argument] = commandForm.exec(line) ?? []
    if (whole === undefined) return line
    const word = `${mark}x${at}x`
    commands.set(word, { text: whole.trim(), verb, argument })
    return line.replace('/remora', word)
  })
  const words = commands.size === 0 ? [] : plainLineStarts(marked.join('\n'))
  return words.flatMap((start) => commands.get(/^\w+/.exec(start)?.[0] ?? '') ?? [])
}

function plainLineStarts(text: string): string[] {
  const starts: string[] = []
  let open = 0
  for (const token of parser.parse(text, {})) {
    if (token.type === 'html_block') open = openAfter(open, token.content)
    if (token.type !== 'inline') continue
    let isStart = true
    for (const { type, content } of token.children ?? []) {
      if (type === 'text' && isStart && open === 0 && token.level === 1) starts.push(content)
      if (type === 'html_inline') open = openAfter(open, content)
      isStart = type === 'softbreak' || type === 'hardbreak' || (isStart && type === 'text' && content === '')
    }
  }
  return starts
}

function openAfter(open: number, html: string): number {
  const visible = html.replaceAll(/<!--[^]*?(?:-->|$)/g, '')
  return [...visible.matchAll(enclosing)].reduce((sum, [, end]) => Math.max(0, sum + (end === '/' ? -1 : 1)), open)
}
