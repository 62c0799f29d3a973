import { normalisedComment } from './comment-text.ts'
import { goDirective } from '../go/go-definition.ts'
import { runByRustdoc } from '../rust/rust-definition.ts'

type Trap = readonly [found: RegExp, why: string]

const scripts: readonly Trap[] = [
  [/<\/script|<!--/i, 'a page that has the script in it would take this for its own'],
  // TypeScript leaves what is marked so out of its declarations, and bundlers drop calls, wherever in a comment it stands.
  [/@internal\b|@jsx|[@#]__[A-Z]/, 'compilers obey this anywhere in a comment'],
]
const spliced: readonly Trap[] = [
  // A splice may also come between the two characters that end a block comment.
  [/(?:\\|\?\?\/)[ \t\v\f]*$/m, 'the compiler joins a line that ends so to the next one'],
]

/** These texts end a comment for a compiler although our grammar reads on, or are code in a comment. */
const traps: Readonly<Record<string, readonly Trap[]>> = {
  javascript: scripts,
  typescript: scripts,
  tsx: scripts,
  java: [[/\\u/, 'the compiler translates \\u… before it looks for comments: leave the backslash out']],
  go: [
    [new RegExp(goDirective, 'm'), "Go's tools obey this"],
    [/^\/\/\s*(?:unordered )?output:/im, 'go test compares the output of an example with what follows'],
  ],
  c: spliced,
  cpp: spliced,
  ruby: [[/coding[ \t]*[:=]/i, 'Ruby reads the file in the encoding that it names']],
  php: [[/^(?:\/\/|#).*\?>/m, 'it ends the comment and the code']],
  html: [[/^<!--(?:-?>|\[|#)|^<!--.*?(?:--(?!>\s*$)|<!--)/s, 'a browser would end the comment there']],
  css: [[/<\/style/i, 'a page that has the style in it would take this for its own']],
}

/** Says why a compiler or a tool reads a comment, with its marks, as something else than our grammars do. */
export function trapIn(comment: string, language: string): string | undefined {
  if (language === 'rust') return isRustDoc(comment) ? runByRustdoc(normalisedComment(comment)) : undefined
  // A tree has each comment without the white space before it.
  const bare = comment.replaceAll(/^[ \t]+/gm, '')
  const own = Object.hasOwn(traps, language) ? (traps[language] ?? []) : []
  for (const [found, why] of own) {
    const text = found.exec(bare)?.[0]
    if (text !== undefined) return `${JSON.stringify(text.trim().slice(-40))} stands in it: ${why}`
  }
  return undefined
}

function isRustDoc(comment: string): boolean {
  return /^\/(?:\/\/(?!\/)|\/!|\*\*(?![*/])|\*!)/.test(comment)
}
