import { expect, it } from 'vitest'
import { withFixes } from './text-fixes.ts'

/** `text` without its only line `pass`. */
function withoutPass(text: string): string {
  const start = text.search(/^\uFEFF? *pass$/m) + Number(text.startsWith('\uFEFFpass'))
  const end = text.indexOf('\n', start) + 1
  const fault = { code: 'PIE790', message: '', line: 1, column: 1, start, end, fix: [{ start, end, text: '' }] }
  return withFixes(text, [fault])
}

it.each([
  ['class A:\n    """A."""\n\n    pass\n\n\nclass B:\n', 'class A:\n    """A."""\n\n\nclass B:\n'],
  ['class A:\n    """A."""\n\n    pass\n', 'class A:\n    """A."""\n'],
  ['class A:\n    """A."""\n\n    pass\n\n', 'class A:\n    """A."""\n\n'],
  ['class A:\r\n    """A."""\r\n\r\n    pass\r\n\r\n\r\nx = 1\r\n', 'class A:\r\n    """A."""\r\n\r\n\r\nx = 1\r\n'],
  ['pass\n\n\nclass A:\n    x = 1\n', 'class A:\n    x = 1\n'],
  ['\uFEFFpass\n\nx = 1\n', '\uFEFFx = 1\n'],
  ['def f():\n    """F."""\n    pass\n\n    x()\n', 'def f():\n    """F."""\n\n    x()\n'],
  ['def f():\n    """F."""\n\n    pass\n    x()\n', 'def f():\n    """F."""\n\n    x()\n'],
])('a line that goes leaves one gap, not two: %j', (text, left) => {
  expect(withoutPass(text)).toBe(left)
})
