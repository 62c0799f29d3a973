import { describe, expect, it } from 'vitest'
import { chooseFiles, type DiscoveryFilters, type SourceFile } from './choose-files.ts'
import { noRules } from './unwanted/tree-rules.ts'

const plain = (files: SourceFile[]) => ({ files, rules: noRules })

async function choose(paths: string[], filters: DiscoveryFilters = {}) {
  const tree = paths.map((path) => ({ path, hash: path, size: 10 }))
  const { files, skipped } = await chooseFiles(plain(tree), filters)
  return { files: files.map((file) => file.path), skipped }
}

describe('chooseFiles', () => {
  it('names a vendored or hidden folder once, with its reason', async () => {
    const { files, skipped } = await choose([
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

  it('knows a virtual environment by what lies in it, not by its name', async () => {
    const { files, skipped } = await choose([
      'myenv/pyvenv.cfg',
      'myenv/lib/x.py',
      'lib/venv/__init__.py',
      'code/own.py',
    ])
    expect(files).toEqual(['code/own.py', 'lib/venv/__init__.py'])
    expect(skipped).toEqual([{ path: 'myenv', reason: 'vendored' }])
  })

  it('knows vendored Go and PHP packages by their lists', async () => {
    const { skipped } = await choose(['vendor/modules.txt', 'vendor/x/y.go', 'p/vendor/autoload.php'])
    expect(skipped.map(({ path }) => path)).toEqual(['p/vendor', 'vendor'])
  })

  it('takes globs and folders as paths, and does not report what they leave out', async () => {
    const paths = ['src/a.py', 'src/deep/b.py', 'tests/c.py', 'source.py']
    expect(await choose(paths, { paths: ['src'] })).toEqual({ files: ['src/a.py', 'src/deep/b.py'], skipped: [] })
    expect(await choose(paths, { paths: ['**/*.py'], exclude: ['tests/'] })).toEqual({
      files: ['source.py', 'src/a.py', 'src/deep/b.py'],
      skipped: [{ path: 'tests/c.py', reason: 'excluded' }],
    })
    expect((await choose(paths, { paths: ['.'] })).files).toHaveLength(4)
  })

  it('keeps only files of the languages asked for', async () => {
    expect((await choose(['a.py', 'b.PYI', 'README', 'py'], { languages: ['python'] })).files).toEqual([
      'a.py',
      'b.PYI',
    ])
  })

  it('passes over files above the size limit', async () => {
    const tree = [{ path: 'big.py', hash: 'h', size: 101 }]
    expect(await chooseFiles(plain(tree), { maxFileBytes: 100 })).toMatchObject({
      files: [],
      skipped: [{ path: 'big.py', reason: 'larger than 100 bytes' }],
    })
  })

  it('refuses a glob it does not serve', async () => {
    await expect(choose(['a.py'], { paths: ['+(*a|*b)+(*a|*b)z'] })).rejects.toMatchObject({ code: 'INTAKE_008' })
  })

  it('lets other work go on while a large tree is held against costly globs', async () => {
    const paths = Array.from({ length: 300 }, (_, at) => `${'a'.repeat(900)}${at}`)
    const order: string[] = []
    setImmediate(() => order.push('other work'))
    expect(await choose(paths, { paths: [`*${'?'.repeat(90)}b`] })).toEqual({ files: [], skipped: [] })
    order.push('chosen')
    expect(order).toEqual(['other work', 'chosen'])
  })

  it('stops when it is told to', async () => {
    const tree = Array.from({ length: 300 }, (_, at) => ({ path: `${'a'.repeat(900)}${at}`, hash: 'h', size: 1 }))
    const choosing = chooseFiles(
      plain(tree),
      { paths: [`*${'?'.repeat(90)}b`] },
      AbortSignal.abort(new Error('stopped')),
    )
    await expect(choosing).rejects.toThrow('stopped')
  })
})
