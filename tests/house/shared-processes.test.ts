import { describe, expect, it } from 'vitest'
import { ownFiles, readRepositoryFile } from './source-files.ts'

const hook = /^(?:before|after)(?:Each|All)\(/m

describe('test files that share a process', () => {
  const fixtures = ownFiles().filter(
    (path) => !path.endsWith('.test.ts') && path !== 'tests/house/refuse-open-handles.ts',
  )

  it('get no hook from a module that is loaded once: of two files that import it, only the first would have the hook', () => {
    expect(fixtures.length).toBeGreaterThan(800)
    expect(fixtures.filter((path) => hook.test(readRepositoryFile(path)))).toEqual([])
    expect(hook.test('let a = 1\nbeforeEach(() => {})\n')).toBe(true)
  })
})
