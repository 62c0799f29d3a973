import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { faultOfGlobs, pathGlobs } from './path-globs.ts'

const matches = (pattern: string, path: string) => pathGlobs([pattern])(path)

describe('pathGlobs', () => {
  it.for([
    ['src', 'src/a/b.py'],
    ['./src/', 'src/a.py'],
    ['.', 'a/b'],
    ['**/*.py', 'a/b/.c.py'],
    ['a/**/b/**/c', 'a/x/b/b/y/c'],
    ['s?c/[a-c]*.py', 'src/b1.py'],
    ['[]x].py', '].py'],
    ['?.py', '😀.py'],
    ['*aab', 'aaaab'],
    ['{src,tests/unit}/*.{py,pyi}', 'tests/unit/a.pyi'],
    ['app/(group)/page.tsx', 'app/(group)/page.tsx'],
    ['{a}.py', '{a}.py'],
    ['\\!a\\*', '!a*'],
  ] as const)('%s takes %s', ([pattern, path]) => expect(matches(pattern, path)).toBe(true))

  it.for([
    ['src/a', 'src/ab'],
    ['*.py', 'a/b.py'],
    ['src/**', 'src'],
    ['a/**/b/**/c', 'a/x/c/b'],
    ['[!a].py', 'a.py'],
    ['a?b', 'a/b'],
    ['a\\*', 'ab'],
    ['A', 'a'],
  ] as const)('%s does not take %s', ([pattern, path]) => expect(matches(pattern, path)).toBe(false))

  it.for([
    ['[[:alpha:]_][[:digit:]-]*', '_-x Z9 é1 9a'],
    ['[[:space:]x]', 'x \t y'],
    ['[![:upper:]]', 'a A'],
    ['[[:foo:]a]', 'a f'],
    ['[[:a]', 'a ['],
    ['[:alpha:]', 'a x'],
    ['[[:cntrl:]]', '\x01 a'],
  ] as const)('%s takes the same names as in Git', async ([pattern, listed]) => {
    const names = listed.split(' ')
    const folder = await mkdtemp(join(tmpdir(), 'remora-'))
    try {
      execFileSync('git', ['init', '-q', folder])
      await writeFile(join(folder, '.gitignore'), `${pattern}\n`)
      const ignored = spawnSync('git', ['check-ignore', '-z', '--stdin'], {
        cwd: folder,
        input: names.join('\0'),
        encoding: 'utf8',
      })
      expect(names.filter((name) => matches(pattern, name)).join('\0')).toBe(ignored.stdout.replace(/\0$/, ''))
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  it('takes what any of several patterns takes', () => {
    const isWanted = pathGlobs(['src', '*.md'])
    expect(['src/a', 'README.md', 'docs/a.md'].map(isWanted)).toEqual([true, true, false])
  })

  it.for([
    [`${'*a'.repeat(50)}b`, 'a'.repeat(1000)],
    [`${'**/*a*/'.repeat(33)}b`, 'aaaaaaa/'.repeat(120)],
    [`*${'a'.repeat(1000)}b`, 'a'.repeat(1024)],
  ] as const)('takes no longer than a moment for %s', ([pattern, path]) => {
    const start = performance.now()
    expect(matches(pattern, path)).toBe(false)
    expect(performance.now() - start).toBeLessThan(500)
  })
})

describe('faultOfGlobs', () => {
  it.for([
    ['+(a|b)', /groups such as/],
    ['!a', /cannot be said with "!"/],
    ['a/../b', /leads out/],
    ['*?'.repeat(60), /more than 100 wildcards/],
    ['{a,b}'.repeat(12), /more than 200 patterns/],
    ['{'.repeat(3000), /more than 2048 characters/],
    [`{${'a'.repeat(20)},b}`.repeat(7).concat('*'), /more than 2048 characters/],
    ['{'.repeat(21), 'braces'],
    ['a'.repeat(2049), 'longer than'],
  ] as const)('names what is wrong with %s', ([pattern, fault]) => {
    expect(faultOfGlobs([pattern])).toMatch(fault)
    expect(() => pathGlobs([pattern])).toThrow(expect.objectContaining({ code: 'INTAKE_008' }))
  })

  it('takes many plain paths', () => {
    expect(faultOfGlobs(Array.from({ length: 100 }, (_, at) => `${'long/'.repeat(100)}${at}.py`))).toBeUndefined()
  })
})
