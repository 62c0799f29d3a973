import { describe, expect, it } from 'vitest'
import { loadLanguage } from '../syntax/parser.ts'
import { foldKeptNames } from './kept-names.ts'
import { moduleItself, moduleUsesInText, moduleUsesOf } from './module-uses.ts'

const python = await loadLanguage('python')
const usesOf = (source: string) => python.read(source, (tree) => moduleUsesOf(tree, source))

function foldedIn(files: Record<string, string>, path: string) {
  return foldKeptNames(new Map(Object.entries(files).map(([name, source]) => [name, usesOf(source)])))(path)
}

const namesIn = (kept: 'all' | string[]) => (kept === 'all' ? kept : kept.filter((name) => name !== moduleItself))

/** The kept names of the file, sorted, without the module itself. */
function keptIn(files: Record<string, string>, path: string) {
  const kept = namesIn(foldedIn(files, path))
  return kept === 'all' ? kept : kept.toSorted()
}

const compat = 'import json\nimport os\ntry:\n    import chardet\nexcept ImportError:\n    import charset as chardet\n'

describe('names of a module that other files depend on', () => {
  it.each([
    ['by name', 'from requests.compat import json\n'],
    ['by name, under another', 'from .compat import (\n    json as complexjson,\n)\n'],
    ['by name, under another package’s name', 'from vendored.compat import json\n'],
    ['of the module', 'from . import compat\ncompat.json.loads("")\n'],
    ['of the module under another name', 'import requests.compat as c\nc.json\n'],
    ['in a mock’s path', 'mock.patch("requests.compat.json")\n'],
    ['of the module, as text', 'from requests import compat\ngetattr(compat, "json")\n'],
    ['by a mock of the module', 'from requests import compat\nmock.patch.object(compat, "json", None)\n'],
    ['by a mock of several', 'mock.patch.multiple("requests.compat", json=None)\n'],
    ['in a docstring', '"""See :data:`requests.compat.json`."""\n'],
    ['as an entry point', 'entry = "requests.compat:json"\n'],
    ['beside the module in an annotation', 'from .compat import json\nfrom . import compat\nit: compat = None\n'],
    ['over lines', 'from . import compat\n(compat\n  # the usual one\n  .json)\n'],
  ])('are kept when taken %s', (_how, source) => {
    expect(keptIn({ 'src/requests/compat.py': compat, 'tests/a.py': source }, 'src/requests/compat.py')).toEqual([
      'json',
    ])
  })

  it.each([
    ['imported whole', 'from requests.compat import *\n'],
    ['passed on', 'from requests import compat\ndir(compat)\n'],
    ['read as a dictionary', 'from requests import compat\nprint(compat.__dict__["json"])\n'],
    ['imported by its name', 'importlib.import_module("requests.compat")\n'],
    ['a plugin of pytest', 'pytest_plugins = ["requests.compat"]\n'],
  ])('are all, when the module is %s', (_how, source) => {
    expect(keptIn({ 'requests/compat.py': compat, 'a.py': source }, 'requests/compat.py')).toBe('all')
  })

  it('are those of a package’s own file, wherever the package lies', () => {
    const files = {
      'dist-1.0/src/shop/__init__.py': 'from .tools import saw, drill\n',
      'dist-1.0/src/shop/tools.py': 'import os\nsaw = drill = 1\n',
      'dist-1.0/src/shop/cart.py': 'from . import saw\n',
      'dist-1.0/src/shop/deep/a.py': 'from .. import drill\n',
    }
    expect(keptIn(files, 'dist-1.0/src/shop/__init__.py')).toEqual(['drill', 'saw'])
    expect(keptIn(files, 'dist-1.0/src/shop/tools.py')).toEqual(['drill', 'saw'])
    expect(keptIn({ 'a/__init__.py': 'import os\n', 'b/a.py': 'from . import os\n' }, 'a/__init__.py')).toEqual([])
  })

  it('are all of a package whose name nothing says, since its folder is the snapshot', () => {
    expect(keptIn({ '__init__.py': 'import os\n' }, '__init__.py')).toBe('all')
  })

  it.each([
    ['an entry point', 'run = "requests.compat:json"\n', ['json']],
    ['a document', 'Use `requests.compat.json` for it.\n', ['json']],
    ['an example', '    >>> from requests.compat import (json,\n    ...     chardet)\n', ['chardet', 'json']],
    ['Cython', 'from requests.compat cimport json as j, os\n', ['json', 'os']],
    ['another module’s name', 'requests.sessions.json\n', []],
    ['a plugin of pytest', '[project.entry-points.pytest11]\nrequests = "requests.compat"\n', 'all'],
    ['a plugin that is one module', 'entry_points={"pytest11": ["a = compat"]}\n', 'all'],
    ['lines with comments', 'from requests.compat cimport (\n    json,  # see f()\n    os,\n)\n', ['json', 'os']],
    ['another name', 'import requests.compat as c\nc.json()\n', 'all'],
    ['a module that is imported by its name', 'x = import_module("requests.compat")\n', 'all'],
  ])('are those that a text names: %s', (_what, text, kept) => {
    const uses = new Map([
      ['requests/compat.py', usesOf(compat)],
      ['a.txt', moduleUsesInText(text)],
    ])
    const found = namesIn(foldKeptNames(uses)('requests/compat.py'))
    expect(found === 'all' ? found : found.toSorted()).toEqual(kept)
  })

  it('are those of its __all__, and none that only the file itself names', () => {
    const logging = 'from logging import getLogger, info\n__all__ = ["info"]\n__all__ += ["more"]\n'
    expect(keptIn({ 'shop/logging.py': logging, 'a.py': 'import os\n' }, 'shop/logging.py')).toEqual(['info', 'more'])
    expect(keptIn({ 'a.py': 'x = 1\n' }, 'b.py')).toEqual([])
  })

  it.each([
    ['shop/cart.py', 'import shop.cart\n'],
    ['cart.py', 'import cart\n'],
    ['shop/__init__.py', 'from shop.cart import add\n'],
    ['shop/deep/__init__.py', 'from shop import deep\n'],
  ])('hold the module itself once it is imported, whatever is used of it: %s by %s', (path, source) => {
    expect(foldedIn({ [path]: '_x = 1\n', 'tests/a.py': source }, path)).toContain(moduleItself)
    expect(foldedIn({ [path]: '_x = 1\n', 'tests/a.py': 'import other\n' }, path)).not.toContain(moduleItself)
    expect(foldedIn({ [path]: source }, path), 'by itself').not.toContain(moduleItself)
  })
})
