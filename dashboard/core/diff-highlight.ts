import type { HLJSApi, LanguageFn } from 'highlight.js'
import type { Token } from './drawn-rows.ts'

// highlight.js gives its tokens to an emitter. Ours gathers them for each line, so that no HTML is ever made of a repository's text.

type Row = { load: () => Promise<{ default: LanguageFn }>; endings: string }

/** The languages of the page, each with how files of it end. Javascript's grammar is within TypeScript's, and C's within C++'s. */
const languages: Readonly<Record<string, Row>> = {
  bash: { load: () => import('highlight.js/lib/languages/bash'), endings: 'sh bash bats ksh' },
  cpp: { load: () => import('highlight.js/lib/languages/cpp'), endings: 'c h cc cpp cxx hh hpp hxx ipp inl' },
  csharp: { load: () => import('highlight.js/lib/languages/csharp'), endings: 'cs csx' },
  css: { load: () => import('highlight.js/lib/languages/css'), endings: 'css' },
  go: { load: () => import('highlight.js/lib/languages/go'), endings: 'go' },
  ini: { load: () => import('highlight.js/lib/languages/ini'), endings: 'toml ini cfg' },
  java: { load: () => import('highlight.js/lib/languages/java'), endings: 'java' },
  json: { load: () => import('highlight.js/lib/languages/json'), endings: 'json jsonc webmanifest' },
  lua: { load: () => import('highlight.js/lib/languages/lua'), endings: 'lua' },
  markdown: { load: () => import('highlight.js/lib/languages/markdown'), endings: 'md markdown mdown' },
  php: { load: () => import('highlight.js/lib/languages/php'), endings: 'php phtml' },
  python: { load: () => import('highlight.js/lib/languages/python'), endings: 'py pyi pym' },
  ruby: { load: () => import('highlight.js/lib/languages/ruby'), endings: 'rb rake gemspec Rakefile Gemfile' },
  rust: { load: () => import('highlight.js/lib/languages/rust'), endings: 'rs' },
  typescript: { load: () => import('highlight.js/lib/languages/typescript'), endings: 'ts mts cts tsx js mjs cjs jsx' },
  xml: { load: () => import('highlight.js/lib/languages/xml'), endings: 'html htm xhtml xml svg' },
  yaml: { load: () => import('highlight.js/lib/languages/yaml'), endings: 'yaml yml' },
}
const languageByEnding = new Map(
  Object.entries(languages).flatMap(([name, { endings }]) =>
    endings.split(' ').map((ending) => [ending, name] as const),
  ),
)

/** Returns the language of a file by its name; undefined where the page has no grammar for it. */
export function languageOf(path: string): string | undefined {
  return languageByEnding.get(path.split(/[./]/).at(-1) ?? '')
}

/** Cuts lines of code into tokens, one list for each line. */
export type Highlight = (lines: readonly string[]) => Token[][]

/** Longer texts are shown without colours. */
const mostCharacters = 60_000

const loading = new Map<string, Promise<Highlight>>()
let core: Promise<HLJSApi> | undefined

/** Loads what a language needs when it is first seen. */
export function loadHighlight(language: string): Promise<Highlight> {
  const known = loading.get(language)
  if (known !== undefined) return known
  const promise = load(language)
  loading.set(language, promise)
  promise.catch(() => loading.delete(language)) // the next file asks again
  return promise
}

async function load(language: string): Promise<Highlight> {
  core ??= import('highlight.js/lib/core').then(({ default: hljs }) => {
    hljs.configure({ __emitter: TokenEmitter })
    return hljs
  })
  const row = languages[language]
  if (row === undefined) throw new Error(`the page has no grammar of ${language}`)
  const [hljs, { default: grammar }] = await Promise.all([core, row.load()])
  hljs.registerLanguage(language, grammar)
  return (lines) => {
    const code = lines.join('\n')
    const plain = lines.map((text) => [{ text, scope: undefined }])
    if (code.length > mostCharacters) return plain
    const { _emitter: emitter } = hljs.highlight(code, { language, ignoreIllegals: true })
    return emitter instanceof TokenEmitter && emitter.lines.length === lines.length ? emitter.lines : plain
  }
}

class TokenEmitter {
  readonly lines: Token[][] = [[]]
  private readonly scopes: string[] = []

  addText(text: string): void {
    for (const [at, part] of text.split('\n').entries()) {
      if (at > 0) this.lines.push([])
      if (part !== '') this.lines.at(-1)?.push({ text: part, scope: this.scopes.at(-1) })
    }
  }
  startScope(name: string): void {
    this.scopes.push(name)
  }
  endScope(): void {
    this.scopes.pop()
  }
  openNode(name: string): void {
    this.startScope(name)
  }
  closeNode(): void {
    this.endScope()
  }
  __addSublanguage(emitter: object): void {
    if (!(emitter instanceof TokenEmitter)) return
    for (const [at, tokens] of emitter.lines.entries()) {
      if (at > 0) this.lines.push([])
      this.lines.at(-1)?.push(...tokens)
    }
  }
  finalize(): void {
    this.scopes.length = 0
  }
  toHTML(): string {
    return ''
  }
}
