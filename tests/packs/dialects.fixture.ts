import type { Dialect, GeneratedDefinition, GeneratedPart } from './generated-source.fixture.ts'

/** The kind of scope of a definition, where that changes how it is written. */
type Place = 'file' | 'type' | 'code'

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
/** As many for every place. */
const scriptGaps: Readonly<Record<Place, readonly string[]>> = {
  file: scriptStatements,
  code: scriptStatements,
  type: ['', '// f() {} 😀\n', '/* f() {} */\n', 'x = [1,\n 2];\n', '"f() {}";\n', 'static y = `f() {}`;\n', ';\n'],
}

const typescript: Dialect = {
  language: 'typescript',
  path: 'pkg/mod.ts',
  gapCount: scriptStatements.length,
  deepest: 3,
  write: (parts) => parts.map((part) => writeScript(part, 'file')).join(''),
}

function writeScript({ gap, definition }: GeneratedPart, place: Place): string {
  const { head, inside, tail } = aroundScript(definition, place)
  return `${scriptGaps[place][gap]}${head}${definition.parts.map((part) => writeScript(part, inside)).join('')}${tail}`
}

type Around = { head: string; inside: Place; tail: string }

function aroundScript({ shape, name, form }: GeneratedDefinition, place: Place): Around {
  if (place === 'type') {
    const before = ['', '@decorated("é")\n', 'static async '][form] ?? ''
    return { head: `${before}${name}(x) {\n`, inside: 'code', tail: '}\n' }
  }
  const before = place === 'file' && form === 1 ? 'export ' : ''
  if (shape === 'outer') return { head: `${before}class ${name} {\n`, inside: 'type', tail: '}\n' }
  if (form === 2) return { head: `const ${name} = async () => {\n`, inside: 'code', tail: '};\n' }
  return { head: `${before}function ${name}(x) {\n`, inside: 'code', tail: '}\n' }
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
export const dialects: readonly Dialect[] = [python, typescript, markdown]
