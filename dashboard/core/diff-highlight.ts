import type { HLJSApi, LanguageFn } from 'highlight.js'
import type { Token } from './diff-rows.ts'

// highlight.js gives its tokens to an emitter. Ours gathers them for each line, so that no HTML is ever made of a repository's text.

/** Loads the grammar of a language. Javascript's is within that of TypeScript, and C's within that of C++. */
const loaders = {
  bash: () => import('highlight.js/lib/languages/bash'),
  cpp: () => import('highlight.js/lib/languages/cpp'),
  csharp: () => import('highlight.js/lib/languages/csharp'),
  css: () => import('highlight.js/lib/languages/css'),
  go: () => import('highlight.js/lib/languages/go'),
  ini: () => import('highlight.js/lib/languages/ini'),
  java: () => import('highlight.js/lib/languages/java'),
  json: () => import('highlight.js/lib/languages/json'),
  lua: () => import('highlight.js/lib/languages/lua'),
  markdown: () => import('highlight.js/lib/languages/markdown'),
  php: () => import('highlight.js/lib/languages/php'),
  python: () => import('highlight.js/lib/languages/python'),
  ruby: () => import('highlight.js/lib/languages/ruby'),
  rust: () => import('highlight.js/lib/languages/rust'),
  typescript: () => import('highlight.js/lib/languages/typescript'),
  xml: () => import('highlight.js/lib/languages/xml'),
  yaml: () => import('highlight.js/lib/languages/yaml'),
} as const satisfies Record<string, () => Promise<{ default: LanguageFn }>>
export type Language = keyof typeof loaders

const endings: Readonly<Record<Language, string>> = {
  bash: 'sh bash bats ksh',
  cpp: 'c h cc cpp cxx hh hpp hxx ipp inl',
  csharp: 'cs csx',
  css: 'css',
  go: 'go',
  ini: 'toml ini cfg',
  java: 'java',
  json: 'json jsonc webmanifest',
  lua: 'lua',
  markdown: 'md markdown mdown',
  php: 'php phtml',
  python: 'py pyi pym',
  ruby: 'rb rake gemspec Rakefile Gemfile',
  rust: 'rs',
  typescript: 'ts mts cts tsx js mjs cjs jsx',
  xml: 'html htm xhtml xml svg',
  yaml: 'yaml yml',
}
const isLanguage = (name: string): name is Language => name in loaders
const languageByEnding = new Map(
  Object.entries(endings).flatMap(([language, names]) =>
    isLanguage(language) ? names.split(' ').map((ending) => [ending, language] as const) : [],
  ),
)

/** Returns the language of a file by its name; undefined where the page has no grammar for it. */
export function languageOf(path: string): Language | undefined {
  return languageByEnding.get(path.split(/[./]/).at(-1) ?? '')
}

/** Cuts lines of code into tokens, one list for each line. */
export type Highlight = (lines: readonly string[]) => Token[][]

/** Longer texts are shown without colours. */
const mostCharacters = 60_000

const loading = new Map<Language, Promise<Highlight>>()
let core: Promise<HLJSApi> | undefined

/** Loads what a language needs when it is first seen. */
export function loadHighlight(language: Language): Promise<Highlight> {
  const known = loading.get(language)
  if (known !== undefined) return known
  const promise = load(language)
  loading.set(language, promise)
  promise.catch(() => loading.delete(language)) // the next file asks again
  return promise
}

async function load(language: Language): Promise<Highlight> {
  core ??= import('highlight.js/lib/core').then(({ default: hljs }) => {
    hljs.configure({ __emitter: TokenEmitter })
    return hljs
  })
  const [hljs, { default: grammar }] = await Promise.all([core, loaders[language]()])
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
