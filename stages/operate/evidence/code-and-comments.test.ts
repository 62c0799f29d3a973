import { fc } from '#testing/fast-check.ts'
import { describe, expect, it } from 'vitest'
import { insertComment } from '#languages/comments/doc-comments.ts'
import { hostileText } from '#languages/comments/hostile-texts.fixture.ts'
import { defaultTextStyle } from '#domain/path-rules.ts'
import { addedCharacter } from '#languages/syntax/hidden-characters.ts'
import { loadLanguage } from '#languages/syntax/parser.ts'
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

/** What a compiler makes of a text before it looks for comments, and every end of a line that any of them knows. */
function asCompiled(text: string, language: string): string {
  const escape = /(?<=(?<!\\)(?:\\\\)*)\\u+([\da-f]{4})/gi
  const translated =
    language === 'java'
      ? text.replaceAll(escape, (_all, code: string) => String.fromCharCode(parseInt(code, 16)))
      : text
  // eslint-disable-next-line no-control-regex
  return translated.replaceAll(/\r\n?|[\x0B\x0C\x85\u2028\u2029]/g, '\n')
}

describe('a doc comment of a model', () => {
  it.each(Object.entries(sources))('is refused or changes nothing but comments, in %s', async (language, marked) => {
    const source = marked.replace('«', '').replace('»', '')
    const range = { start: marked.indexOf('«'), end: marked.indexOf('»') - 1 }
    const { read } = await loadLanguage(language)
    const readText = (text: string) => read(text, (tree) => codeAndComments(tree, text))
    const before = readText(source)
    const { code } = readText(asCompiled(source, language))
    let inserted = 0
    fc.assert(
      fc.property(hostileText, (docstring) => {
        const place = { language, source, range, text: defaultTextStyle, docstring }
        const written = read(source, (tree) => insertComment(tree, place))
        if (written.kind === 'refused') return
        inserted += 1
        const after = readText(written.text)
        expect(after.code).toBe(before.code)
        expect(readText(asCompiled(written.text, language)).code).toBe(code)
        expect(language === 'java' && /(?<!\\)(?:\\\\)*\\u/.test(written.text)).toBe(false)
        expect(addedCharacter(source, written.text)).toBeUndefined()
        expect(commentFault(before.comments, after.comments, { isSameCode: true, language })).toBeUndefined()
        expect(read(written.text, (tree) => tree.rootNode.hasError)).toBe(false)
      }),
      { numRuns: 400 }, // also in `npm test`: what a model writes must never become code
    )
    expect(inserted).toBeGreaterThan(20)
  })
})
