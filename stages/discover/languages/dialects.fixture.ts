import type { Dialect, GeneratedDefinition, GeneratedPart } from './generated-source.fixture.ts'

/** The kind of scope of a definition, where that changes how it is written. */
type Place = 'file' | 'type' | 'code'

type Writer = {
  /** As many for every place. */
  gaps: Readonly<Record<Place, readonly string[]>>
  /** A definition around its contents, and the scope that it is for them. */
  write(definition: GeneratedDefinition, place: Place): { head: string; inside: Place; tail: string }
}

type Braced = Writer & { language: string; path: string; deepest?: number; top?: string }

/** A language whose definitions have a beginning and an end and need no indentation. */
function braced({ language, path, deepest = 3, top = '', gaps, write }: Braced): Dialect {
  const writePart = ({ gap, definition }: GeneratedPart, place: Place): string => {
    const { head, inside, tail } = write(definition, place)
    return `${gaps[place][gap]}${head}${definition.parts.map((part) => writePart(part, inside)).join('')}${tail}`
  }
  const writeFile = (parts: readonly GeneratedPart[]) => top + parts.map((part) => writePart(part, 'file')).join('')
  return { language, path, gapCount: gaps.file.length, deepest, write: writeFile }
}

function ofForm(forms: readonly [string, string, string], form: number): string {
  return forms[form] ?? forms[0]
}

const pythonGaps = [
  '',
  '# a comment 😀\n',
  '# def f(): pass\n',
  'x = [1,\n 2]\n',
  'if x:\n    y = 1\n',
  '\n\f\n',
  '"""\ndef f(): pass\n"""\n',
  'f = g = lambda H: H\n',
]

const python: Dialect = {
  language: 'python',
  path: 'pkg/mod.py',
  gapCount: pythonGaps.length,
  deepest: 3,
  write: (parts) => parts.map((part) => indented(writePython(part), '')).join(''),
}

function writePython({ gap, definition }: GeneratedPart): string {
  const { shape, name, form, parts } = definition
  const decorator = form === 1 ? '@decorated("é")\n' : ''
  const head = shape === 'outer' ? `class ${name}:` : `${form === 2 ? 'async ' : ''}def ${name}(x):`
  const inside = parts.map((part) => indented(writePython(part), '    ')).join('')
  return `${pythonGaps[gap] ?? ''}${decorator}${head}\n${inside}    pass\n`
}

function indented(text: string, indent: string): string {
  return text.replaceAll(/^(?=[^\n\f])/gm, indent)
}

const scriptStatements = [
  '',
  '// function f() {} 😀\n',
  '/* class f {} */\n',
  'const x = [1,\n 2];\n',
  'if (x) { y = 1 }\n',
  '"function f() {}";\n',
  'z = `class f { ${x} }`;\n',
]
const script: Writer = {
  gaps: {
    file: scriptStatements,
    code: scriptStatements,
    type: ['', '// f() {} 😀\n', '/* f() {} */\n', 'x = [1,\n 2];\n', '"f() {}";\n', 'static y = `f() {}`;\n', ';\n'],
  },
  write: ({ shape, name, form }, place) => {
    if (place === 'type') {
      return {
        head: `${ofForm(['', '@decorated("é")\n', 'static async '], form)}${name}(x) {\n`,
        inside: 'code',
        tail: '}\n',
      }
    }
    const before = place === 'file' && form === 1 ? 'export ' : ''
    if (shape === 'outer') return { head: `${before}class ${name} {\n`, inside: 'type', tail: '}\n' }
    if (form === 2) return { head: `const ${name} = async () => {\n`, inside: 'code', tail: '};\n' }
    return { head: `${before}function ${name}(x) {\n`, inside: 'code', tail: '}\n' }
  },
}

const goGaps = [
  '',
  '// func f() {} 😀\n',
  '/* type f struct {} */\n',
  'var x = []int{1,\n 2}\n',
  'const s = "func f() {}"\n',
  'var r = `\nfunc f() {}\n`\n',
]
const go: Writer = {
  gaps: { file: goGaps, code: goGaps, type: goGaps },
  write: ({ shape, name, form }) => {
    const type = ofForm(['struct { x int }', 'interface { x() }', 'map[string]int'], form)
    const func = ofForm([name, `(s *T) ${name}`, `(s T[K]) ${name}`], form)
    return shape === 'outer'
      ? { head: `type ${name} ${type}\n`, inside: 'file', tail: '' }
      : { head: `func ${func}(x int) {`, inside: 'code', tail: '}\n' }
  },
}

const rustGaps = [
  '',
  '// fn f() {} 😀\n',
  '/* mod f {} */\n',
  'const X: [u8; 2] = [1,\n 2];\n',
  'static S: &str = "fn f() {}";\n',
  'use a::b;\n',
  'm! { fn f() {} }\n',
]
const rust: Writer = {
  gaps: { file: rustGaps, code: rustGaps, type: rustGaps },
  write: ({ shape, name, form }) => {
    const before = ofForm(['', '#[allow(é)]\n// in between\npub ', '/// fn f() {}\n'], form)
    return shape === 'outer'
      ? { head: `${before}mod ${name} {\n`, inside: 'file', tail: '}\n' }
      : { head: `${before}fn ${name}(x: u8) {\n`, inside: 'code', tail: '}\n' }
  },
}

const java: Writer = {
  gaps: {
    file: ['', '// class f {} 😀\n', '/* class f {} */\n', 'import a.b;\n', ';\n'],
    type: ['', '// void f() {} 😀\n', '/* class f {} */\n', 'int[] x = {1,\n 2};\n', 'String s = "class f {}";\n'],
    code: ['', '// class f {} 😀\n', '/* class f {} */\n', 'int[] x = {1,\n 2};\n', 'String s = "class f {}";\n'],
  },
  write: ({ shape, name, form }, place) => {
    const before = ofForm(['', '@Ann("é") ', 'abstract '], form)
    if (shape === 'outer') return { head: `${before}class ${name} {\n`, inside: 'type', tail: '}\n' }
    if (place !== 'type') return { head: `${before}interface ${name} {\n`, inside: 'type', tail: '}\n' }
    return { head: `${before}<T> void ${name}(int x) {\n`, inside: 'code', tail: '}\n' }
  },
}

const markdownGaps = [
  '',
  'Some text # f 😀\n\n',
  '<!--\n# f\n-->\n\n',
  '\\# f\n\n',
  '***\n\n',
  '1. a\n2. b\n\n',
  '[f]: https://example.org "# f"\n\n',
  '\n\n\n',
]

const markdown: Dialect = {
  language: 'markdown',
  path: 'docs/a.md',
  gapCount: markdownGaps.length,
  deepest: 3,
  ownsWhatFollows: true,
  write: (parts) => parts.map((part) => writeMarkdown(part, 1)).join(''),
}

function writeMarkdown({ gap, definition }: GeneratedPart, level: number): string {
  const { shape, name, form, parts } = definition
  const marks = '#'.repeat(level)
  const underlined = form === 2 && level < 3
  const heading = underlined
    ? `${name}\n${level === 1 ? '===' : '---'}`
    : `${marks} ${name}${form === 1 ? ` ${marks}` : ''}`
  const body = shape === 'outer' ? '\nWhat it is about.\n\n' : '\n\n'
  return `${markdownGaps[gap]}${heading}${body}${parts.map((part) => writeMarkdown(part, level + 1)).join('')}`
}

/** How the languages are written whose identities are tested. */
export const dialects: readonly Dialect[] = [
  python,
  braced({ language: 'typescript', path: 'pkg/mod.ts', ...script }),
  braced({ language: 'javascript', path: 'pkg/mod.js', ...script }),
  braced({ language: 'go', path: 'pkg/mod.go', deepest: 1, top: 'package p\n', ...go }),
  braced({ language: 'rust', path: 'pkg/mod.rs', ...rust }),
  braced({ language: 'java', path: 'pkg/Mod.java', ...java }),
  markdown,
]
