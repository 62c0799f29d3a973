import { describe, expect, it } from 'vitest'
import { flake8PathTest, ruffExcludeTest, ruffIncludeTest, ruffPerFileTest } from './file-patterns.ts'

describe('patterns of Ruff', () => {
  it.each([
    ['docs', '', 'docs', true],
    ['docs', '', 'src/docs', true],
    ['docs/', '', 'docs', true],
    ['docs/', '', 'src/docs', false],
    ['src/*.py', '', 'src/a/b.py', true],
    ['*/skip', 'top', 'top/a/skip', true],
    ['../other/x', 'top/sub', 'top/other/x', true],
    ['../../../x', 'top/sub', 'x', false],
    ['/docs', '', 'docs', false],
    ['a/**/b.py', '', 'a/b.py', true],
    ['a/**/b.py', '', 'a/c/d/b.py', true],
    ['**/gen_?.py', 'top', 'top/gen_1.py', true],
    ['{a,b}/c[!0-9].py', '', 'b/cx.py', true],
    ['{a,b}/c[!0-9].py', '', 'b/c1.py', false],
    ['x', 'top', 'elsewhere/x', true],
    ['x/y', 'top', 'elsewhere/x/y', false],
  ])('%s in the configuration of "%s" excludes %s: %s', (pattern, folder, path, isMeant) => {
    expect(ruffExcludeTest(pattern, folder)(path)).toBe(isMeant)
  })

  it('are held against whole paths by include', () => {
    expect(ruffIncludeTest('*.py', '')('a/b.py')).toBe(true)
    expect(ruffIncludeTest('setup.py', '')('setup.py')).toBe(true)
    expect(ruffIncludeTest('setup.py', '')('a/setup.py')).toBe(false)
  })

  it.each([
    ['tests/*', 'tests/deep/a.py'],
    ['./src/y.py', 'src/y.py'],
    ['**/deep/*.py', 'deep/a.py'],
    ['conftest.py', 'tests/conftest.py'],
    ['!src/**', 'tests/a.py'],
    ['src/[ab]/*.py', 'src/a/x.py'],
  ])('%s means %s, and its folder is not ruled out before', (pattern, path) => {
    const { isMeant, mayMatchIn } = ruffPerFileTest(pattern, '')
    expect(isMeant(path)).toBe(true)
    expect(mayMatchIn(path.slice(0, Math.max(0, path.lastIndexOf('/'))))).toBe(true)
  })

  it('rule out whole folders that they cannot mean', () => {
    expect(ruffPerFileTest('tests/unit/*.py', '').mayMatchIn('src/unit')).toBe(false)
  })

  it('stand for nothing when they stand for too much, and cost no time', () => {
    const startedAt = performance.now()
    expect(ruffExcludeTest('{a,b}'.repeat(40), '')('abababab')).toBe(false)
    expect(ruffExcludeTest(`${'*a'.repeat(200)}b`, '')('a'.repeat(3000))).toBe(false)
    expect(performance.now() - startedAt).toBeLessThan(2000)
  })
})

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
