import { describe, expect, it } from 'vitest'
import { chooseFiles, type DiscoveryFilters } from './choose-files.ts'

function choose(paths: string[], filters: DiscoveryFilters = {}) {
  const tree = paths.map((path) => ({ path, hash: path, size: 10 }))
  const { files, skipped } = chooseFiles(tree, filters)
  return { files: files.map((file) => file.path), skipped }
}

describe('chooseFiles', () => {
  it('names a vendored or hidden folder once, with its reason', () => {
    const { files, skipped } = choose([
      'a.py',
      'web/node_modules/x/i.py',
      'web/node_modules/y.py',
      '.git/config',
      '.env',
    ])
    expect(files).toEqual(['a.py'])
    expect(skipped).toEqual([
      { path: '.env', reason: 'hidden' },
      { path: '.git', reason: 'hidden' },
      { path: 'web/node_modules', reason: 'vendored' },
    ])
  })

  it('knows a virtual environment by what lies in it, not by its name', () => {
    const { files, skipped } = choose(['myenv/pyvenv.cfg', 'myenv/lib/x.py', 'lib/venv/__init__.py', 'vendor/own.py'])
    expect(files).toEqual(['lib/venv/__init__.py', 'vendor/own.py'])
    expect(skipped).toEqual([{ path: 'myenv', reason: 'vendored' }])
  })

  it('knows vendored Go and PHP packages by their lists', () => {
    expect(choose(['vendor/modules.txt', 'vendor/x/y.go', 'p/vendor/autoload.php']).files).toEqual([])
  })

  it('takes globs and folders as paths, and does not report what they leave out', () => {
    const paths = ['src/a.py', 'src/deep/b.py', 'tests/c.py', 'source.py']
    expect(choose(paths, { paths: ['src'] })).toEqual({ files: ['src/a.py', 'src/deep/b.py'], skipped: [] })
    expect(choose(paths, { paths: ['**/*.py'], exclude: ['tests/'] })).toEqual({
      files: ['source.py', 'src/a.py', 'src/deep/b.py'],
      skipped: [{ path: 'tests/c.py', reason: 'excluded' }],
    })
    expect(choose(paths, { paths: ['.'] }).files).toHaveLength(4)
  })

  it('keeps only files of the languages asked for', () => {
    expect(choose(['a.py', 'b.PYI', 'README', 'py'], { languages: ['python'] }).files).toEqual(['a.py', 'b.PYI'])
  })

  it('passes over files above the size limit', () => {
    const tree = [{ path: 'big.py', hash: 'h', size: 101 }]
    expect(chooseFiles(tree, { maxFileBytes: 100 })).toEqual({
      files: [],
      skipped: [{ path: 'big.py', reason: 'larger than 100 bytes' }],
    })
  })
})
