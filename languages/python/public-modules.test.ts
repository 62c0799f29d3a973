import { describe, expect, it } from 'vitest'
import { publicModules } from './public-modules.ts'

const library = '[project]\nname = "shop"\n'

/** Whether users may import the module at `path` of a repository with these files besides. */
function isPublic(path: string, files: Readonly<Record<string, string>> = { 'pyproject.toml': library }) {
  const texts = Object.entries(files).map(([name, text]) => ({ path: name, text }))
  return publicModules([path, ...Object.keys(files)], texts)(path)
}

describe('the users of a library', () => {
  it.each(['shop/compat.py', 'src/shop/compat.py', 'shop/deep/er.py', 'compat.py', 'src/compat.py', 'shop/testing.py'])(
    'may import %s',
    (path) => {
      expect(isPublic(path)).toBe(true)
    },
  )

  it.each([
    ['private', 'shop/_compat.py'],
    ['run', 'shop/__main__.py'],
    ['a stub', 'shop/compat.pyi'],
    ['a test', 'tests/helpers.py'],
    ['the set-up', 'setup.py'],
    ['an example', 'examples/demo.py'],
    ['in a folder that no import can name', 'my-scripts/run.py'],
  ])('do not import what is %s: %s', (_what, path) => {
    expect(isPublic(path)).toBe(false)
  })

  it.each([
    ['[project]', { 'pyproject.toml': library }, true],
    ['Poetry', { 'pyproject.toml': '[tool.poetry]\nname = "shop"\n' }, true],
    ['a file that cannot be read', { 'pyproject.toml': '[project\n' }, true],
    ['setup.py', { 'setup.py': 'setup()\n' }, true],
    ['setup.cfg', { 'setup.cfg': '[flake8]\nx = 1\n\n[metadata]\nname = shop\n' }, true],
    ['tools alone', { 'pyproject.toml': '[tool.ruff]\n', 'setup.cfg': '[flake8]\n' }, false],
    ['Poetry without a package', { 'pyproject.toml': '[tool.poetry]\npackage-mode = false\n' }, false],
    ['uv without a package', { 'pyproject.toml': `${library}[tool.uv]\npackage = false\n` }, false],
  ])('are known by %s', (_what, files, found) => {
    expect(isPublic('shop/compat.py', files)).toBe(found)
  })

  it('are those of the package whose metadata is nearest above the file', () => {
    const files = { 'pyproject.toml': '[tool.ruff]\n', 'tools/shop/setup.py': '', 'tests/data/toy/setup.py': '' }
    expect(isPublic('tools/shop/shop/compat.py', files)).toBe(true)
    expect(isPublic('site/compat.py', files)).toBe(false)
    expect(isPublic('tests/data/toy/toy/compat.py', files)).toBe(false)
  })
})
