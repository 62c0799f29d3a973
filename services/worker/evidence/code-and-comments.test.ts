import { fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { insertComment } from '#doc-comments/doc-comments.ts'
import { defaultTextStyle } from '#domain/path-rules.ts'
import { loadLanguage } from '#syntax/parser.ts'
import { codeAndComments, commentFault } from './code-and-comments.ts'

/** `«` and `»` are the ends of the node. */
const sources = {
  typescript: '// one\nclass A {\n  «@D() f({ a }: B, b = `x${1} `): void { g() }» // two\n}\n',
  tsx: 'const a = <p>// no comment {/* one */}</p>\n«export const B = ({ c }: D) => <p>{c}</p>»\n',
  javascript: '#!/usr/bin/env node\r\n«function f(a, ...b) {\r\n  return /x\\/*/.test(a) // one\r\n}»\r\n',
  go: 'package a\n\ntype (\n\t// one\n\tA int\n\n\t«B struct{}»\n)\n',
  rust: '//! one\n\n«#[inline]\npub fn f(a: &str) -> u8 { 1 /* two */ }»\n',
  java: 'class A {\n  /* one */\n\n  «@X("/*") <T> T f(T a) throws B { return a; }»\n}\n',
}

const hostile = [
  '*/',
  '/*',
  '//',
  '\n',
  '\r\n',
  '\r',
  '@param a - x',
  '@ts-ignore',
  '`',
  '${',
  '{',
  '}',
  '\\',
  '"',
  '\0',
  '\u2028',
  '#[x]',
  '*',
  '///',
  '<!--',
  '-->',
  '```',
  '    ',
  '\t',
  ' ',
  'B',
  'f',
  'word',
  'go:build',
  '\ud800',
  '?>',
]
const text = fc
  .array(fc.oneof(fc.constantFrom(...hostile), fc.string()), { maxLength: 12 })
  .map((parts) => parts.join(''))

describe('a doc comment of a model', () => {
  it.each(Object.entries(sources))('is refused or changes nothing but comments, in %s', async (language, marked) => {
    const source = marked.replace('«', '').replace('»', '')
    const range = { start: marked.indexOf('«'), end: marked.indexOf('»') - 1 }
    const { read } = await loadLanguage(language)
    const before = read(source, (tree) => codeAndComments(tree, source))
    let inserted = 0
    fc.assert(
      fc.property(text, fc.constantFrom('', 'Word. ', 'B is it. '), (raw, start) => {
        const place = { language, source, range, text: defaultTextStyle, docstring: start + raw }
        const written = read(source, (tree) => insertComment(tree, place))
        if (written.kind === 'refused') return
        inserted += 1
        const after = read(written.text, (tree) => codeAndComments(tree, written.text))
        expect(after.code).toBe(before.code)
        expect(commentFault(before.comments, after.comments, true)).toBeUndefined()
        expect(read(written.text, (tree) => tree.rootNode.hasError)).toBe(false)
      }),
      { numRuns: 400 },
    )
    expect(inserted).toBeGreaterThan(20)
  })
})
