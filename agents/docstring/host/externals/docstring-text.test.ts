import { describe, expect, it } from 'vitest'
import type { DocstringStyle } from '#domain/path-rules.ts'
import { faultOfContent, faultOfMeaning, fitDocstring } from './docstring-text.ts'

const room = { summary: 36, single: 33, line: 40 }

function fitted(content: string, style: DocstringStyle = 'google'): string {
  const answer = fitDocstring(content, style, room)
  return answer.kind === 'fits' ? answer.content : `too long: ${answer.reason}`
}

describe('fitting a docstring into its lines', () => {
  it('leaves a text that fits as it is, to the character', () => {
    const text = 'Do it.\n\nShort lines\nstay as they are.\n\nArgs:\n    x: The x.\n        And more.'
    expect(fitted(text)).toBe(text)
  })

  it('fills the rest of a paragraph from the line that is too long, and no other', () => {
    const text =
      'Do it.\n\nThis line says a little more than fits\nin forty characters of a line, you see.\n\nShort.\nShort.'
    expect(fitted(text.replace('more than', 'more words than'))).toBe(
      'Do it.\n\nThis line says a little more words than\nfits in forty characters of a line, you\nsee.\n\nShort.\nShort.',
    )
  })

  it('goes on one level deeper in an entry of a section, in its own depth where it has one', () => {
    expect(fitted('Do it.\n\nArgs:\n    price (int): What it costs when nobody has said a word.\n    x: The x.')).toBe(
      'Do it.\n\nArgs:\n    price (int): What it costs when\n        nobody has said a word.\n    x: The x.',
    )
    expect(fitted('Do it.\n\nArgs:\n  price: What it costs when nobody has said\n    a word.')).toBe(
      'Do it.\n\nArgs:\n  price: What it costs when nobody has\n    said a word.',
    )
  })

  it('keeps a field of sphinx, an item of a list and a paragraph of numpy in their forms', () => {
    expect(fitted('Do it.\n\n:param price: What it costs when nobody says.', 'sphinx')).toBe(
      'Do it.\n\n:param price: What it costs when nobody\n    says.',
    )
    expect(fitted('Do it.\n\n- One that is much longer than a line has room for.\n- Two.')).toBe(
      'Do it.\n\n- One that is much longer than a line\n  has room for.\n- Two.',
    )
    const numpy = 'Do it.\n\nParameters\n----------\nprice : int\n    What it costs when nobody has said a word.'
    expect(fitted(numpy, 'numpy')).toBe(
      'Do it.\n\nParameters\n----------\nprice : int\n    What it costs when nobody has said a\n    word.',
    )
  })

  it.each([
    ['an example', '>>> price(first, second, third, and_a_fourth)\n3'],
    ['a literal block', 'Like this::\n\n    price(first, second, third, and_a_fourth)'],
    ['a fence', '```\nprice(first, second, third, and_a_fourth)\n```'],
    ['a table', '+------------------+----------------------+\n| a                | b                    |'],
    ['a head of numpy', 'Parameters\n----------\nprice : dict[str, list[tuple[int, float, Decimal]]]\n    The price.'],
  ])('never breaks %s, and says what is too long', (_name, block) => {
    expect(fitted(`Do it.\n\n${block}`, 'numpy')).toMatch(
      /^too long: the line ".*" has \d+ characters.*room for 40: shorten it$/,
    )
  })

  it('lets a long address stand on a line of its own', () => {
    const address = `https://example.org/${'a'.repeat(40)}`
    expect(fitted(`Do it.\n\nSee ${address} for more.`)).toBe(`Do it.\n\nSee\n${address}\nfor more.`)
  })

  it('does not break the first line, and says how long it may be', () => {
    expect(fitted(`${'Do '.repeat(15)}it.`)).toBe(
      'too long: the first line has 48 characters, and there is room for 36: say it in fewer words',
    )
  })
})

describe('a docstring that says nothing', () => {
  const of = (content: string, code = 'def set_timeout(seconds): ...') =>
    faultOfMeaning(content, { name: 'set_timeout', code })

  it.each([
    ['set_timeout', 'only the name'],
    ['`set_timeout()`.', 'only the name'],
    ['Session.set_timeout', 'only the name'],
    ["The docstring's text, without quotes.", 'speaks of docstrings'],
    ['set_timeout has no docstring.', 'speaks of docstrings'],
    ['It is a list. It is a list. It is a list. It is a list.', 'repeats'],
    ['Set it to the value of the value of the value of the value of the value.', 'repeats'],
  ])('is refused: %s', (content, reason) => {
    expect(of(content)).toContain(reason)
  })

  it.each([
    ['Set the timeout.'],
    ['Set the timeout of `set_timeout`.'],
    ['Return the docstring of a node.', 'def read(node):\n    return node.__doc__'],
    ['Do it.\n\nArgs:\n    a (int): The a.\n    b (int): The b.\n    c (int): The c.'],
  ])('is not: %s', (content, code = 'def set_timeout(seconds): ...') => {
    expect(of(content, code)).toBeUndefined()
  })
})

it('a docstring has at most 4000 characters', () => {
  expect(faultOfContent('x'.repeat(4000), '"""')).toBeUndefined()
  expect(faultOfContent('x'.repeat(4001), '"""')).toBe('the docstring is longer than 4000 characters')
})
