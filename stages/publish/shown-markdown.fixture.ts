import MarkdownIt from 'markdown-it'

export type ShownToken = { type: string; content: string }

/** As GitHub shows comments: HTML has a meaning, and addresses become links by themselves. */
const markdown = new MarkdownIt({ html: true, linkify: true })
// GitHub does not link the bare name of a host.
markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: true })

type Nested = ShownToken & { children: Nested[] | null }

const flat = (tokens: readonly Nested[]): ShownToken[] =>
  tokens.flatMap(({ type, content, children }) => [{ type, content }, ...flat(children ?? [])])

/** What a text is shown as, in its order: words, links, pictures, HTML, emphasis, lists … */
export function shownMarkdown(source: string): ShownToken[] {
  return flat(markdown.parse(source, {}))
}
