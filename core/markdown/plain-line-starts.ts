import MarkdownIt from 'markdown-it'

const parser = new MarkdownIt({ html: true })
/** What is inside of these is quoted, hidden or code, also behind an empty line, where Markdown goes on. */
const enclosing = /<(\/?)(?:details|pre|code|blockquote|template|script|style|textarea|table)\b[^<>]*>/gi

/** The texts with which the lines of paragraphs and headings begin that are in nothing else, and neither quoted, hidden nor code. */
export function plainLineStarts(text: string): string[] {
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
