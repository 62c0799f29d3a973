import { describe, expect, it } from 'vitest'
import { samplePathsOf, samplePlace } from './sample-place.ts'

const node = { path: 'src/shop/orders.py', qualifiedName: 'Order.total' }

/** The names in a folder, as a workspace lists them. */
const listing = (files: readonly string[]) => (folder: string) => {
  const inside = files.filter((path) => folder === '' || path.startsWith(`${folder}/`))
  const names = inside.map((path) => /^[^/]*\/?/.exec(path.slice(folder === '' ? 0 : folder.length + 1))?.[0] ?? '')
  return [...new Set(names)]
}
const placeAmong = (...files: string[]) => samplePlace(node, listing(files))

describe('the file of samples', () => {
  it('is where the repository keeps fixtures, in their format, and among the tests where it keeps none', () => {
    const name = 'shop/orders.Order.total'
    expect(placeAmong('src/a.py')).toEqual({ path: `tests/fixtures/${name}.json`, format: 'json' })
    expect(placeAmong('test/a.py')).toEqual({ path: `test/fixtures/${name}.json`, format: 'json' })
    expect(placeAmong('tests/data/a.csv')).toEqual({ path: `tests/data/${name}.json`, format: 'json' })
    expect(placeAmong('testdata/b/c.json', 'testdata/a.yml')).toEqual({ path: `testdata/${name}.json`, format: 'json' })
    const yaml = placeAmong(
      'tests/fixtures/x/a.yml',
      'tests/fixtures/b.yaml',
      'tests/fixtures/c.json',
      'tests/data/d.json',
    )
    expect(yaml).toEqual({ path: `tests/fixtures/${name}.yaml`, format: 'yaml' })
    expect(samplePathsOf(yaml).map((path) => path.slice(-5))).toEqual(['.json', '.yaml', 'l.yml'])
  })

  it('is among the tests of its own package, where a repository has many', () => {
    const list = listing(['tests/a.py', 'packages/shop/tests/test_a.py', 'packages/shop/src/shop/orders.py', 'b/c.py'])
    const placeOf = (path: string) => samplePlace({ path, qualifiedName: 'f' }, list).path
    expect(placeOf('packages/shop/src/shop/orders.py')).toBe('packages/shop/tests/fixtures/shop/orders.f.json')
    expect(placeOf('b/c.py')).toBe('tests/fixtures/b/c.f.json')
  })

  it('has the format that was asked for, and a name of its own for each definition', () => {
    const list = listing(['tests/fixtures/a.yml'])
    expect(samplePlace(node, list, 'json').path).toBe('tests/fixtures/shop/orders.Order.total.json')
    const paths = ['a/b.py', 'a/b/__init__.py', 'a.py', 'b.py'].map(
      (path) => samplePlace({ path, qualifiedName: 'f' }, list).path,
    )
    expect(paths.slice(2)).toEqual(['tests/fixtures/a.f.yaml', 'tests/fixtures/b.f.yaml'])
  })
})
