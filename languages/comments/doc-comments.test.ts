import { describe, expect, it } from 'vitest'
import { defaultTextStyle, type TextStyle } from '#domain/path-rules.ts'
import { loadLanguage } from '../syntax/parser.ts'
import { describeDefinition, insertComment } from './doc-comments.ts'
import { docLanguageOf } from './doc-language.ts'
import { fileDocs } from './file-docs.ts'

/** `«` and `»` in a source are the ends of the node. */
async function insert(language: string, marked: string, docstring = 'Do it.', style: Partial<TextStyle> = {}) {
  const source = marked.replace('«', '').replace('»', '')
  const range = { start: marked.indexOf('«'), end: marked.indexOf('»') - 1 }
  const { parse } = await loadLanguage(language)
  const place = { language, source, range, text: { ...defaultTextStyle, lineLength: 80, ...style } }
  const written = insertComment(parse(source), { ...place, docstring })
  return written.kind === 'refused' ? `refused: ${written.reason}` : written.text
}

async function describedIn(language: string, marked: string) {
  const source = marked.replace('«', '').replace('»', '')
  const range = { start: marked.indexOf('«'), end: marked.indexOf('»') - 1 }
  const { parse } = await loadLanguage(language)
  return describeDefinition(parse(source), { language, source, range, text: defaultTextStyle })
}

describe('a doc comment', () => {
  it.each([
    ['of one line', 'typescript', '«export function f() {}»\n', '/** Do it. */\nexport function f() {}\n'],
    ['behind a form feed', 'javascript', '\f  «function f() {}»\n', '\f  /** Do it. */\n  function f() {}\n'],
    [
      'of a method, indented with tabs, in a file of CRLF',
      'javascript',
      'class A {\r\n\t«f() {}»\r\n}\r\n',
      'class A {\r\n\t/** Do it. */\r\n\tf() {}\r\n}\r\n',
    ],
    [
      'below a comment about the file',
      'typescript',
      '/** @license MIT */\n\n«function f() {}»',
      '/** @license MIT */\n\n/** Do it. */\nfunction f() {}',
    ],
    ['below a byte order mark', 'javascript', '\uFEFF«function f() {}»\n', '\uFEFF/** Do it. */\nfunction f() {}\n'],
  ])('%s', async (_name, language, before, after) => {
    expect(await insert(language, before)).toBe(after)
  })

  it('has its tags in the form of the repository, without marks that the model added', async () => {
    const text =
      '/**\n * Add two.\n *\n * @param {number} a the first\n * @param {number} b - the second\n * @returns {number} a < b\n */'
    const source = '«function add(a, b) { return a + b }»\n'
    const lines = (head: string, dash: string, type = '') =>
      `/**\n * Add two.\n *\n * @param ${head}a ${dash}the first\n * @param ${head}b ${dash}the second\n * @returns ${type}a < b\n */\n`
    expect(await insert('javascript', source, text)).toContain(lines('', '- '))
    expect(await insert('javascript', source, text, { docstringDash: false })).toContain(lines('', ''))
    expect(await insert('javascript', source, text, { docstringTypes: true })).toContain(
      lines('{number} ', '- ', '{number} '),
    )
    expect(await insert('typescript', source, text)).toContain(lines('', '- ').replace('a < b', 'a \\< b'))
  })

  it('is wrapped to the line length, and not in code', async () => {
    const code = '```ts\nconst aVeryLongLineOfCode = thatGoesOn(beyond, the, limit)\n```'
    const text = `Read it.\n\nSome words that go on for a while, {@link And.a long link} too.\n\n@param a - what is read, which takes much more\n\n${code}`
    expect(await insert('typescript', '«function f(a) {}»\n', text, { lineLength: 44 })).toMatch(
      /^refused: the line "const aVery/,
    )
    const prose = text.slice(0, -code.length).trimEnd()
    expect(await insert('typescript', '«function f(a) {}»\n', prose, { lineLength: 44 })).toBe(
      '/**\n * Read it.\n *\n * Some words that go on for a while,\n * {@link And.a long link} too.\n *\n * @param a - what is read, which takes much\n *   more\n */\nfunction f(a) {}\n',
    )
  })

  it.each([
    ['', 'is empty'],
    ['Do */ it', 'contains */'],
    ['Do it.\n\n@ts-ignore', 'for an instruction'],
    [`${'word '.repeat(15)}@ts-nocheck`, 'for an instruction'],
    ['Do what is @internal here.', 'compilers obey this anywhere'],
    ['Do it \u2067here.', 'control characters: U+2067'],
    ['Do it.\n@internal', 'the tag @internal is not to be written'],
    ['x'.repeat(100_000), 'longer than 4000'],
    ['Do it.\n\n@param a - one', 'b is missing'],
    ['Do it.\n\n@param a - one\n@param b - two\n@param c - three', 'c is no parameter'],
    ['Do it.\n\n@param b - two\n@param a - one', 'in another order than the signature has: a, b'],
    ['Do it.\n\n@param a - one\n@param b - two\n@returns nothing', 'nothing is returned'],
  ])('of %j is refused', async (text, reason) => {
    const refusal = await insert('typescript', '«export function f(a: string, b = 1): void {}»\n', text)
    expect(refusal).toMatch(/^refused: /)
    expect(refusal).toContain(reason)
  })

  it.each([
    ['/** Has one. */\n«function f() {}»', 'already has a docstring'],
    [
      'g()\n\n/** Partly from @x/y,\n * MIT License: https://x.test */\n«function f() {}»',
      'a comment stands directly above it',
    ],
    ['// @ts-expect-error why\n«function f() {}»', 'a comment for tools'],
    ['g(); «function f() {}»', 'shares its line'],
    ['«function f() { g( }»', 'syntax errors'],
    ['«export declare function f(): void»', 'written elsewhere'],
    ['«export function f(a: string): void»\nexport function f(a: unknown) {}', 'overloads'],
    ['export function f(a: string): void\n«export function f(a: unknown) {}»', 'overloads'],
    ['class A {\n  «set a(b) {}»\n}', 'a setter'],
    ['class A {\n  «override a() {}»\n}', 'inherits'],
    ['«const a = () => 1»\nconst b = () => 2', 'one-line definitions in a row'],
    ['«const a = 1»', 'was not found'],
  ])('is not written for %j', async (source, reason) => {
    const refusal = await insert('typescript', source)
    expect(refusal).toMatch(/^refused: /)
    expect(refusal).toContain(reason)
  })

  it('is written about what the signature and the body show', async () => {
    const source = `«export async function* f<T>({ a, b }: O = {}, c?: number, ...d: T[]) {
  if (c) throw new RangeError('c')
  try { throw new TypeError('caught') } catch {}
  yield () => { throw new SyntaxError('inner') }
}»`
    expect(await describedIn('typescript', source)).toMatchObject({
      name: 'f',
      parameters: [
        { name: 'options', annotation: 'O', default: '{}' },
        { name: 'c', annotation: 'number', default: null },
        { name: 'd', kind: 'var_positional' },
      ],
      type_parameters: ['T'],
      yields: true,
      raises: ['RangeError'],
      style: 'tsdoc',
    })
  })
  it.each([
    ['«function total() { return 1 }»', true],
    ['«const total = function () { return this.sum }»', true],
    ['«function Total() { return this }»', false],
  ])('%s: says that it returns a value is %s', async (source, returns) => {
    expect(await describedIn('javascript', source)).toMatchObject({ returns_value: returns })
  })
})

describe('the doc comments of a file', () => {
  it.each([
    [
      'a block below a line',
      '// one\n/** two */\nfunction f() {}\n',
      [
        [1, '// one'],
        [2, '/** two */'],
      ],
    ],
    ['lines that follow each other', '// one\n// two\nfunction f() {}\n', [[1, '// one\n// two']]],
    [
      'lines with a blank one between',
      '// one\n\n// two\nfunction f() {}\n',
      [
        [1, '// one'],
        [3, '// two'],
      ],
    ],
  ])('are apart or one as they are written: %s', async (_name, source, found) => {
    const { parse } = await loadLanguage('javascript')
    const language = docLanguageOf('javascript')
    if (language === undefined) throw new Error('no doc comments in JavaScript')
    expect(fileDocs(parse(source), source, language).map(({ line, content }) => [line, content])).toEqual(found)
  })
})
