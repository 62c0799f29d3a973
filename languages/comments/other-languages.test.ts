import { describe, expect, it } from 'vitest'
import { defaultTextStyle } from '#domain/path-rules.ts'
import { loadLanguage } from '../syntax/parser.ts'
import { docFactsOf } from './doc-facts.ts'
import { insertComment } from './doc-comments.ts'

/** `«` and `»` in a source are the ends of the node. */
async function insert(language: string, marked: string, docstring: string) {
  const source = marked.replace('«', '').replace('»', '')
  const range = { start: marked.indexOf('«'), end: marked.indexOf('»') - 1 }
  const { parse } = await loadLanguage(language)
  const text = { ...defaultTextStyle, lineLength: 60 }
  const written = insertComment(parse(source), { language, source, range, text, docstring })
  return written.kind === 'refused' ? `refused: ${written.reason}` : written.text
}

async function visibilityOf(language: string, marked: string) {
  const source = marked.replace('«', '').replace('»', '')
  const nodes = [{ startByte: marked.indexOf('«'), endByte: marked.indexOf('»') - 1 }]
  const { parse } = await loadLanguage(language)
  return docFactsOf(parse(source), { language, source, nodes }).definitions[0]?.visibility
}

describe('a doc comment of Go', () => {
  it('stands on lines of its own, with tabs, and lists as gofmt writes them', async () => {
    const source = 'package a\n\ntype (\n\t«A struct{}»\n)\n'
    const text = 'A holds what is needed for a while, and a little longer than that:\n\n- one\n- two'
    expect(await insert('go', source, text)).toBe(
      'package a\n\ntype (\n\t// A holds what is needed for a while, and a little\n\t// longer than that:\n\t//\n\t//   - one\n\t//   - two\n\tA struct{}\n)\n',
    )
  })

  it.each([
    ['//go:noinline\n«func F() {}»', '// F does it.\n//\n//go:noinline\nfunc F() {}'],
    ['// A remark.\n\n//sumtype:decl\n«type F any»', '// A remark.\n\n// F does it.\n//\n//sumtype:decl\ntype F any'],
    ['type (\n\t//a:b\n\t//export F\n\t«F any»\n)', 'type (\n\t// F does it.\n\t//\n\t//a:b\n\t//export F\n\tF any\n)'],
  ])('stands above the directives of %j, as gofmt has it', async (source, text) => {
    expect(await insert('go', `package a\n\n${source}\n`, 'F does it.')).toBe(`package a\n\n${text}\n`)
  })

  it.each([
    ['«func F() {}»', 'Does it.', 'must begin with the name: "F …"'],
    ['«func F() {}»', 'F does it.\n\n@param a - one', 'there are no tags'],
    ['«func F() {}»', 'F does it.\ngo:build linux', 'for an instruction'],
    ['//nolint\n«func F() {}»', 'F does it.', 'a comment for tools stands directly above it'],
    ['func a() {}\n//go:noinline\n«func F() {\n}»', 'F does it.', 'no blank line sets it apart'],
    ['// T is one.\n//sumtype:decl\n«type T interface{}»', 'T is it.', 'already has a docstring'],
    ['«func F() {}»', 'F does it.\nOutput: 1', 'go test compares'],
    ['// F has one.\n«func F() {}»', 'F does it.', 'already has a docstring'],
    ['func a() {}\n«func F() {\n}»', 'F does it.', 'no blank line sets it apart'],
  ])('is refused for %j: %j', async (source, text, reason) => {
    expect(await insert('go', `package a\n\n${source}\n`, text)).toContain(reason)
  })

  it.each([
    ['package a\n«func F() {}»', 'public'],
    ['package main\n«func F() {}»', 'private'],
    ['package a\n«func (s *s) F() {}»', 'private'],
  ])('of %j is about something %s', async (source, visibility) => {
    expect(await visibilityOf('go', source)).toBe(visibility)
  })
})

describe('a doc comment of Rust', () => {
  it('stands above the attributes, and links to nothing', async () => {
    const source = 'impl A {\n    «#[inline]\n    pub fn f(&self, a: u8) -> u8 { a }»\n}\n'
    const text = 'Reads [a] of a Vec<u8>, as `b[0]` does.\n\n# Panics\n\nWhere [the text](https://a.b) says so.'
    expect(await insert('rust', source, text)).toBe(
      'impl A {\n    /// Reads \\[a\\] of a Vec\\<u8\\>, as `b[0]` does.\n    ///\n    /// # Panics\n    ///\n    /// Where [the text](https://a.b) says so.\n    #[inline]\n    pub fn f(&self, a: u8) -> u8 { a }\n}\n'.replace(
        '\\[the',
        '[the',
      ),
    )
  })

  it.each([
    ['«/// Has one.\n#[inline]\nfn f() {}»', 'Does it.', 'already has a docstring'],
    ['«#[doc = "Has one."]\nfn f() {}»', 'Does it.', 'how it is documented'],
    ['«pub unsafe fn f() {}»', 'Does it.', 'unsafe'],
    ['«#[derive(Debug, clap::Parser)]\nstruct A;»', 'Does it.', 'clap::Parser may read its comment'],
    ['impl T for A {\n    «fn f() {}»\n}', 'Does it.', 'the trait that it implements'],
    ['«fn f() {}»', 'Does it.\n\n```\nf()\n```', 'run as a test'],
    ['«fn f() {}»', 'Does it.\n\nSo:\n\n    f()', 'run as a test'],
    ['«fn f() {}»', 'Does it.\nclippy::all', 'for an instruction'],
    ['«fn f() {}»', 'Does it.\n\n-     f()', 'run as a test'],
    ['«fn f() {}»', 'Does it.\n\n```text rust\nf()\n```', 'run as a test'],
  ])('is refused for %j: %j', async (source, text, reason) => {
    expect(await insert('rust', `${source}\n`, text)).toContain(reason)
  })

  it('is written below what is said of the whole module', async () => {
    expect(await insert('rust', '//! The crate.\n«fn f() {}»\n', 'Does it.')).toBe(
      '//! The crate.\n/// Does it.\nfn f() {}\n',
    )
  })

  it.each([
    ['«pub fn f() {}»', 'public'],
    ['«pub(crate) fn f() {}»', 'private'],
    ['mod a { «pub fn f() {}» }', 'private'],
    ['trait T { «fn f();» }', 'private'],
  ])('of %j is about something %s', async (source, visibility) => {
    expect(await visibilityOf('rust', source)).toBe(visibility)
  })
})

describe('a doc comment of Java', () => {
  it('stands above annotations, in the HTML of Javadoc', async () => {
    const source = 'class A {\n  «@Deprecated\n  public <T> T f(T a, int... b) { return a; }»\n}\n'
    const text =
      'Reads `a` & a List<T>.\n\nThen the rest.\n\n@param <T> the type\n@param a one\n@param b others\n@return it'
    expect(await insert('java', source, text)).toBe(
      'class A {\n  /**\n   * Reads {@code a} &amp; a List&lt;T&gt;.\n   *\n   * <p>Then the rest.\n   *\n   * @param <T> the type\n   * @param a one\n   * @param b others\n   * @return it\n   */\n  @Deprecated\n  public <T> T f(T a, int... b) { return a; }\n}\n',
    )
  })

  it.each([
    ['«@Override public void f() {}»', 'Does it.', 'inherits that of the method it overrides'],
    ['/** Has one. */\n«void f() {}»', 'Does it.', 'already has a docstring'],
    ['«void f(int a) {}»', 'Does it.\n\n@param b two', 'b is no parameter; a is missing'],
    ['«void f() {}»', 'Does it.\n\n@return it', 'nothing is returned'],
    ['«void f() {}»', 'See {@inheritDoc}.', 'is not to be written'],
    ['«void f() {}»', 'Does \\u002a\\u002f it.', 'the compiler translates'],
  ])('is refused for %j: %j', async (source, text, reason) => {
    expect(await insert('java', `class A {\n${source}\n}\n`, text)).toContain(reason)
  })

  it.each([
    ['public class A { «public void f() {}» }', 'public'],
    ['public class A { «void f() {}» }', 'private'],
    ['class A { «public void f() {}» }', 'private'],
    ['public interface A { «void f();» }', 'public'],
  ])('of %j is about something %s', async (source, visibility) => {
    expect(await visibilityOf('java', source)).toBe(visibility)
  })
})
