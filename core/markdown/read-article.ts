import MarkdownIt from 'markdown-it'

/** What of a Markdown text must survive a change of its wording, and where it is. Lines are 1-based. */
export type ArticleFacts = {
  frontMatter: string
  headings: { level: number; text: string; line: number }[]
  /** Code blocks; `info` is the language of a fence, and undefined for an indented block. */
  code: { text: string; info: string | undefined; line: number }[]
  codeSpans: string[]
  links: { target: string; line: number }[]
  html: string[]
  cells: string[]
  /** Of the prose, in order. */
  numbers: string[]
  /** The words of the prose: not of code, tables and HTML. */
  words: number
  /** Headings, and paragraphs (in lists, quotes and on their own), with their lines; `isParagraph`: on its own. */
  prose: { text: string; first: number; last: number; isParagraph: boolean }[]
}

/** Longer texts are not read: parsing the worst known of this length takes most of a second. */
export const maxArticleCharacters = 100_000

const parser = new MarkdownIt({ html: true })
const frontMatter = /^---\r?\n[^]*?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/
type Token = ReturnType<typeof parser.parse>[number]

export function readArticle(source: string): ArticleFacts {
  const head = frontMatter.exec(source)?.[0] ?? ''
  const shift = head.split('\n').length - 1
  const facts: ArticleFacts = {
    frontMatter: head,
    headings: [],
    code: [],
    codeSpans: [],
    links: [],
    html: [],
    cells: [],
    numbers: [],
    words: 0,
    prose: [],
  }
  let [first, last, level, isCell] = [1, 1, 0, false]
  for (const token of parser.parse(source.slice(head.length), {})) {
    if (token.map !== null) [first, last] = [token.map[0] + shift + 1, token.map[1] + shift]
    switch (token.type) {
      case 'heading_open':
        level = Number(token.tag.slice(1))
        break
      case 'heading_close':
        level = 0
        break
      case 'th_open':
      case 'td_open':
        isCell = true
        break
      case 'th_close':
      case 'td_close':
        isCell = false
        break
      case 'fence':
      case 'code_block': {
        const info = token.type === 'fence' ? token.info.trim() : undefined
        facts.code.push({ text: token.content, info, line: first })
        break
      }
      case 'html_block':
        facts.html.push(token.content)
        break
      case 'inline':
        addInline(token, { facts, first, last, level, isCell })
        break
      default:
    }
  }
  return facts
}

type Place = { facts: ArticleFacts; first: number; last: number; level: number; isCell: boolean }

function addInline(token: Token, { facts, first, last, level, isCell }: Place): void {
  const texts: string[] = []
  for (const part of token.children ?? []) {
    if (part.type === 'code_inline') facts.codeSpans.push(part.content)
    else if (part.type === 'html_inline') facts.html.push(part.content)
    else if (part.type === 'link_open') facts.links.push({ target: String(part.attrGet('href') ?? ''), line: first })
    else if (part.type === 'image') facts.links.push({ target: String(part.attrGet('src') ?? ''), line: first })
    else if (part.type === 'softbreak' || part.type === 'hardbreak') texts.push('\n')
    if (part.type === 'text') texts.push(part.content)
    else if (part.type === 'code_inline') texts.push('\u0000')
  }
  const text = texts.join('')
  if (level > 0) facts.headings.push({ level, text: token.content.trim(), line: first })
  if (isCell) facts.cells.push(token.content)
  else {
    facts.numbers.push(...(text.match(/\d+(?:[.,:]\d+)*/g) ?? []))
    facts.words += text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu)?.length ?? 0
    facts.prose.push({ text, first, last, isParagraph: level === 0 && token.level === 1 })
  }
}

/** The anchors of an article's headings as code hosts make them, and those that its HTML names. */
export function anchorsOf({ headings, html }: Pick<ArticleFacts, 'headings' | 'html'>): Set<string> {
  const anchors = new Set<string>()
  const counts = new Map<string, number>()
  for (const { text } of headings) {
    const slug = slugOf(text)
    const count = counts.get(slug) ?? 0
    counts.set(slug, count + 1)
    anchors.add(count === 0 ? slug : `${slug}-${count}`)
  }
  for (const [, name] of html.join('\n').matchAll(/\b(?:id|name)\s*=\s*["']?([^"'\s>]+)/g))
    if (name !== undefined) anchors.add(name)
  return anchors
}

/** The patterns are bounded, or a heading of brackets alone would take minutes. */
export function slugOf(heading: string): string {
  const shown = heading.replaceAll(/!?\[([^\]]{0,300})\]\([^)]{0,1000}\)/g, '$1').replaceAll(/<[^<>]{0,1000}>/g, '')
  return shown
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-')
}
