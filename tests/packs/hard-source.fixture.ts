import { randomSource } from './random-source.fixture.ts'

/** How a language writes what is hard to parse; every language of `grammars.ts` has a row. */
type Difficulty = {
  /** What can be nested without limit: how it is opened and closed. */
  nests: readonly (readonly [open: string, close: string])[]
  /** What begins a string and a comment, and a whole line that is a comment. */
  string: string
  comment: string
  commentLine: string
  /** Stands before everything else in a file. */
  head?: string
  define(name: string): string
}

const braces = { nests: [['{\n', '}\n']], string: '"', comment: '/*', commentLine: '// a\n' } as const
const script: Difficulty = {
  ...braces,
  nests: [
    ['{\n', '}\n'],
    ['f(\n', ')\n'],
    ['[\n', ']\n'],
    ['function f() {\n', '}\n'],
    ['class A { static {\n', '}}\n'],
  ],
  string: '`${',
  define: (name) => `function ${name}() {}\n`,
}
const cLike: Difficulty = {
  ...braces,
  nests: [
    ['{\n', '}\n'],
    ['void f() {\n', '}\n'],
    ['int a = (\n', ')\n'],
    ['#if X\n', '#endif\n'],
  ],
  define: (name) => `int ${name}() { return 1; }\n`,
}

/** By language. */
const difficulties: Readonly<Record<string, Difficulty>> = {
  python: {
    nests: [
      ['(\n', ')\n'],
      ['[\n', ']\n'],
      ['f(lambda:\n', ')\n'],
    ],
    string: '"""',
    comment: '#',
    commentLine: '# a\n',
    define: (name) => `def ${name}(): pass\n`,
  },
  typescript: script,
  tsx: { ...script, nests: [...script.nests, ['<a>\n', '</a>\n']] },
  javascript: { ...script, nests: [...script.nests, ['<a>\n', '</a>\n']] },
  go: {
    ...braces,
    nests: [
      ['{\n', '}\n'],
      ['f(\n', ')\n'],
      ['func() {\n', '}\n'],
    ],
    head: 'package p\n',
    define: (name) => `func ${name}() {}\n`,
  },
  rust: {
    ...braces,
    nests: [
      ['{\n', '}\n'],
      ['mod m {\n', '}\n'],
      ['m!(\n', ')\n'],
      ['/*\n', '*/\n'],
    ],
    string: 'r#"',
    define: (name) => `fn ${name}() {}\n`,
  },
  java: {
    ...braces,
    nests: [
      ['{\n', '}\n'],
      ['class A {\n', '}\n'],
      ['f(\n', ')\n'],
    ],
    define: (name) => `class ${name} {}\n`,
  },
  ruby: {
    nests: [
      ['(\n', ')\n'],
      ['def f\n', 'end\n'],
      ['class A\n', 'end\n'],
      ['a do\n', 'end\n'],
    ],
    string: '%q(',
    comment: '=begin\n',
    commentLine: '# a\n',
    define: (name) => `def ${name}; end\n`,
  },
  c: cLike,
  cpp: { ...cLike, nests: [...cLike.nests, ['namespace a {\n', '}\n'], ['A<\n', '>\n']], string: 'R"a(' },
  c_sharp: {
    ...braces,
    nests: [
      ['{\n', '}\n'],
      ['class A {\n', '}\n'],
      ['f(\n', ')\n'],
      ['#if X\n', '#endif\n'],
    ],
    string: '@"',
    define: (name) => `class ${name} {}\n`,
  },
  php: {
    ...braces,
    nests: [
      ['{\n', '}\n'],
      ['f(\n', ')\n'],
      ['function f() {\n', '}\n'],
    ],
    string: '<<<A\n',
    head: '<?php\n',
    define: (name) => `function ${name}() {}\n`,
  },
  bash: {
    nests: [
      ['{\n', '}\n'],
      ['(\n', ')\n'],
      ['$(\n', ')\n'],
      ['if a; then\n', 'fi\n'],
      ['case a in a)\n', ';; esac\n'],
    ],
    string: 'cat <<A\n',
    comment: '#',
    commentLine: '# a\n',
    define: (name) => `${name}() { :; }\n`,
  },
  markdown: {
    nests: [
      ['> ', '\n'],
      ['- ', '\n'],
      ['[', ']'],
      ['# a\n## b\n', '\n'],
      ['<a>\n', '</a>\n'],
    ],
    string: '```\n',
    comment: '<!--',
    commentLine: '<!-- a -->\n',
    define: (name) => `# ${name}\n\n`,
  },
  toml: {
    nests: [
      ['[\n', ']\n'],
      ['a = [\n', ']\n'],
      ['a = {', '}'],
    ],
    string: 'a = """',
    comment: '#',
    commentLine: '# a\n',
    define: (name) => `[${name}]\n`,
  },
  yaml: {
    nests: [
      ['[\n', ']\n'],
      ['{a:\n', '}\n'],
      ['- ', '\n'],
      ['? ', '\n'],
    ],
    string: 'a: "',
    comment: '#',
    commentLine: '# a\n',
    define: (name) => `${name}: 1\n`,
  },
  json: {
    nests: [
      ['[\n', ']\n'],
      ['{"a":\n', '}\n'],
    ],
    string: '"',
    comment: '/*',
    commentLine: '// a\n',
    define: (name) => `{"${name}": 1}\n`,
  },
  html: {
    nests: [
      ['<a>\n', '</a>\n'],
      ['<p id="a">\n', '</p>\n'],
      ['<ul><li id=a>\n', '</ul>\n'],
    ],
    string: '<a b="',
    comment: '<!--',
    commentLine: '<!-- a -->\n',
    define: (name) => `<a id="${name}"></a>\n`,
  },
  lua: {
    nests: [
      ['(\n', ')\n'],
      ['{\n', '}\n'],
      ['do\n', 'end\n'],
      ['function f()\n', 'end\n'],
    ],
    string: '[[',
    comment: '--[[',
    commentLine: '-- a\n',
    define: (name) => `function ${name}() end\n`,
  },
  css: {
    ...braces,
    nests: [
      ['a {\n', '}\n'],
      ['@media a {\n', '}\n'],
      [':not(\n', ')\n'],
    ],
    define: (name) => `.${name} {}\n`,
  },
}

export type HardSource = { name: string; text: string }

/** How much of everything there is: levels, definitions, characters of one name, of a line, of random text. */
export type Hardness = Record<'depth' | 'definitions' | 'nameLength' | 'lineLength' | 'noise' | 'seed', number>

/** Files of one language that are hard to parse, or not source code at all. */
export function hardSources(language: string, hard: Hardness): HardSource[] {
  const { nests, string, comment, commentLine, head = '', define } = difficultyOf(language)
  const tiny = Array.from({ length: hard.definitions }, (_, at) => define(`n${at}`))
  const long = 'a'.repeat(hard.nameLength)
  const noise = randomSource(hard.seed, hard.noise)
  const tokens = [...nests.flat(), string, comment, commentLine, define('a'), 'a', ' ', '\n', ',', '=']
  const texts: Record<string, string> = {
    'tiny definitions': tiny.join(''),
    'definitions without their last characters': tiny.map((text) => text.trim().slice(0, -1)).join('\n'),
    // Empty lines, so that it does not count as minified.
    'a long name': define(long) + define(`b${long}`) + '\n'.repeat(hard.nameLength / 100),
    'one line': tiny.map((text) => text.trim()).join(' ') + ' '.repeat(hard.lineLength),
    'an open string': define('a') + string + tiny.join(''),
    'an open comment': define('a') + comment + tiny.join(''),
    'open comments': `${comment} a\n`.repeat(hard.definitions),
    'comments before a definition': commentLine.repeat(hard.definitions) + define('a'),
    'random characters': noise.characters(),
    'random tokens': noise.picks(tokens),
  }
  for (const [open, close] of nests) {
    texts[`${JSON.stringify(open)} nested`] = open.repeat(hard.depth) + define('a') + close.repeat(hard.depth)
    texts[`only ${JSON.stringify(open)}`] = open.repeat(hard.depth)
    texts[`only ${JSON.stringify(close)}`] = close.repeat(hard.depth)
  }
  return Object.entries(texts).map(([name, text]) => ({ name, text: head + text }))
}

/** A small file of the language with the one definition `name`. */
export function soundSource(language: string, name: string): string {
  const { head = '', define } = difficultyOf(language)
  return head + define(name)
}

/** A file with CRLF that defines `name` twice, behind a byte order mark and a comment of characters of two to four bytes. */
export function twoDefinitions(language: string, name: string): { text: string; definition: string } {
  const { head = '', commentLine, define } = difficultyOf(language)
  const definition = define(name)
  const text = `\uFEFF${head}${commentLine.replace('a', 'é → 😀')}${definition}${definition}`
  return { text: text.replaceAll('\n', '\r\n'), definition }
}

function difficultyOf(language: string): Difficulty {
  const known = difficulties[language]
  if (known === undefined) throw new Error(`${language} has no row in hard-source.fixture.ts`)
  return known
}
