import { describe, expect, it } from 'vitest'
import { isSafeFix } from './safe-ruff-fixes.ts'

/** Ruff's fix of F841 for the first name of an exception in the text. */
function isSafe(text: string): boolean {
  const start = text.indexOf(' as ')
  const { length } = /^ as \w+/.exec(text.slice(start))?.[0] ?? ''
  return isSafeFix('F841', [{ start, end: start + length, text: '' }], text)
}

const handler = (body: string) =>
  `def f(x, y, z):\n    try:\n        x()\n    except TypeError as e:\n${body}    return y\n`

describe('the unused name of an exception', () => {
  it.each([
    ['of which nothing in the handler speaks', handler('        x(y, then)\n')],
    [
      'that another handler has, too',
      `${handler('        x()\n')}\n\ntry:\n    f()\nexcept KeyError as e:\n    print(e)\n`,
    ],
    ['that another function has', `${handler('        x()\n')}\n\ndef g(e):\n    return e\n`],
    ['of a handler in one line', 'try: f()\nexcept TypeError as e: pass\nprint(f)\n'],
    [
      'that handlers before and behind it read, which bind it',
      handler(
        '        x()\n    except KeyError as e:\n        x(e)\n    try:\n        y()\n    except OSError as e: z(e)\n',
      ),
    ],
  ])('%s goes', (_, text) => {
    expect(isSafe(text)).toBe(true)
  })

  it.each([
    [
      'that the handler binds again in some case, and reads in each',
      handler('        if x:\n            e = y()\n        raise z(e)\n'),
    ],
    ['in a line that is commented out, further out than the handler', handler('# print(e)\n        x()\n')],
    ['behind an empty line', handler('        x()\n\n        del e\n')],
    ['in a text of several lines', handler('        x("""\nhow e came\n""")\n')],
    ['of a handler in one line, which names it', 'try: f()\nexcept TypeError as e: print(e)\n'],
    ['that is read behind the handler, where it is deleted', handler('        x()\n    x(e)\n')],
    ['that a function has before', handler('        x()\n').replace('try:', 'e = 5\n    try:')],
    ['that a module has behind a handler in one line', 'try: f()\nexcept TypeError as e: pass\nprint(e)\n'],
    ['that is looked up by a text', handler('        x("%(e)s" % locals())\n')],
  ])('stays: %s', (_, text) => {
    expect(isSafe(text)).toBe(false)
  })
})
