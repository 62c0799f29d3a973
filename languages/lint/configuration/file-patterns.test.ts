import { describe, expect, it } from 'vitest'
import { flake8PathTest } from './file-patterns.ts'

describe('patterns of flake8', () => {
  it.each([
    ['*.egg', 'a/x.egg', true],
    ['docs', 'src/docs', true],
    ['./docs', 'docs', true],
    ['./docs', 'src/docs', false],
    ['tests/*', 'tests/a/b.py', true],
    ['a[^b].py', 'a^.py', true],
    ['a\\*.py', 'a\\b.py', true],
  ])('%s means %s: %s', (pattern, path, isMeant) => {
    expect(flake8PathTest(pattern, '')(path)).toBe(isMeant)
  })
})
