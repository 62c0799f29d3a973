import { expect, it } from 'vitest'
import { ownModulesIn, ownModulesOf } from './own-modules.ts'

it('are the packages of a repository, wherever they lie, and the files beside them', () => {
  expect(
    ownModulesOf([
      'README.md',
      'setup.py',
      'src/shop/__init__.py',
      'src/shop/models/__init__.py',
      'src/shop/models/stock.py',
      'src/shop/json.py',
      'scripts/release.py',
      'tests/helpers.py',
      'typed/api/__init__.pyi',
    ]),
  ).toEqual(['.json', '.models', '.stock', 'api', 'helpers', 'release', 'setup', 'shop'])
})

it('are those inside where the repository is a package itself', () => {
  expect(ownModulesOf(['__init__.py', 'cli/__init__.py', 'cli/main.py', 'stock.py'])).toEqual(['.main', 'cli', 'stock'])
})

it('are found in the imports of a text, also in those over several lines', () => {
  const own = new Set(['shop', 'helpers', 'release', 'other'])
  const text =
    'import shop.models as m, os\nfrom x import \\\n    helpers\nif True: import release # import other\nother = 1\n'
  expect(ownModulesIn(text, own)).toEqual(['shop', 'helpers', 'release', 'other'])
  expect(ownModulesIn('from shop.errors import (\n    Out,  # why\n    release,\n)\n', own)).toEqual([
    'shop',
    'release',
  ])
  expect(ownModulesIn('import os\nshop = 1\n', own)).toEqual([])
})
