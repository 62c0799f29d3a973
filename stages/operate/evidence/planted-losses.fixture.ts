import { defaultPathRules, type PathRules } from '#domain/path-rules.ts'
import type { PlantedHarm } from './planted-harms.fixture.ts'

const keeping = (keptNames: PathRules['keptNames']): PathRules => ({ ...defaultPathRules, keptNames })

const nameHarms: PlantedHarm[] = [
  {
    harm: 'an import that another file takes',
    before: 'import json\n',
    after: '',
    rules: keeping(['json']),
    says: 'line 1: "json" is gone; others may use it',
  },
  {
    harm: 'an import of a module that is taken whole',
    before: 'import json\n',
    after: '',
    rules: keeping('all'),
    says: 'other files use everything',
  },
  {
    harm: 'a name that __all__ lists no more',
    before: '__all__ = ["a", "b"]\na = b = 1\n',
    after: '__all__ = ["a"]\na = b = 1\n',
    says: '"b"',
  },
  {
    harm: 'a public name',
    before: 'LIMIT = 1\nprint(1)\n',
    after: 'print(1)\n',
    says: '"LIMIT" is gone; it is a public name',
  },
  { harm: 'a function', before: 'def _f():\n    return 1\n', after: 'def _g():\n    return 1\n', says: '"_f"' },
  {
    harm: 'a class’s attribute',
    before: 'class A:\n    x = 1\n    y = 2\n',
    after: 'class A:\n    y = 2\n',
    says: '"A.x" is gone',
  },
  {
    harm: 'a method',
    before: 'class A:\n    def f(self):\n        return 1\n',
    after: 'class A:\n    def g(self):\n        return 1\n',
    says: '"A.f"',
  },
].map((harm) => ({ check: 'names_kept' as const, ...harm }))

/** `import {what}` goes, and nothing else. */
const importHarm = (harm: string, says: string, [before, after]: [string, string], path = 'a.py'): PlantedHarm => ({
  check: 'needed_imports_kept',
  harm,
  before,
  after,
  path,
  says,
})

const inTry = 'try:\n    import cmd\n    import readline\nexcept ImportError:\n    HAVE = False\n'
const without = (source: string, part: string): [string, string] => [source, source.replace(part, '')]

const importHarms: PlantedHarm[] = [
  importHarm('an import whose failure sets a flag', 'try statement', without(inTry, '    import cmd\n')),
  importHarm(
    'an import on a condition',
    'condition',
    without('import os\nif os.name:\n    import cmd\n    print(1)\n', '    import cmd\n'),
  ),
  importHarm(
    'the import that a test is about',
    'test is about',
    without('def test_it():\n    import cmd\n    print(1)\n    print(2)\n    print(3)\n', '    import cmd\n'),
  ),
  importHarm(
    'the import of a function that does little else',
    'little else',
    without('def load():\n    import cmd\n    print(1)\n', '    import cmd\n'),
  ),
  {
    ...importHarm('the repository’s own package', 'module of the repository', [
      'import shop\nprint(1)\n',
      'print(1)\n',
    ]),
    path: 'tests/a.py',
    rules: { ...defaultPathRules, ownModules: ['shop'] },
  },
  importHarm('an import for its effect', 'effect', without('import readline\nprint(1)\n', 'import readline\n')),
  importHarm('a module inside a package', 'effect', without('import a.b\nprint(1)\n', 'import a.b\n')),
  importHarm('a module of the repository', 'effect', without('import shop\nprint(1)\n', 'import shop\n'), 'shop/a.py'),
  importHarm('a neighbour module', 'effect', without('from . import b\nprint(1)\n', 'from . import b\n')),
  importHarm('an import of everything', 'everything', without('from a import *\nprint(1)\n', 'from a import *\n')),
  importHarm('a re-export', 're-exported', without('from a import b as b\nprint(1)\n', 'from a import b as b\n')),
  importHarm(
    'a package’s import',
    'package offers',
    without('import cmd\nprint(1)\n', 'import cmd\n'),
    'a/__init__.py',
  ),
  importHarm(
    'a name of conftest.py',
    'pytest',
    without('from a import b\nprint(1)\n', 'from a import b\n'),
    'conftest.py',
  ),
  importHarm('a fixture', 'fixture', without('from a import b\n\n\ndef f(b):\n    print(b)\n', 'from a import b\n')),
  importHarm('what a doctest uses', 'doctest', without('"""Do.\n\n>>> cmd.x\n"""\nimport cmd\n', 'import cmd\n')),
  importHarm(
    'what a type comment names',
    'type comment',
    without('import cmd\nx = []  # type: list[cmd.Cmd]\n', 'import cmd\n'),
  ),
  importHarm('what code in a string names', 'string', without('import cmd\nprint(eval("cmd.x"))\n', 'import cmd\n')),
  importHarm(
    'what is looked up by name',
    'by its name',
    without('import cmd\nprint(globals()["cmd"])\n', 'import cmd\n'),
  ),
  importHarm(
    'a feature of the language',
    'how the file is read',
    without('from __future__ import annotations\nprint(1)\n', 'from __future__ import annotations\n'),
  ),
]

/** Harms to names and imports that others depend on. */
export const plantedLosses: readonly PlantedHarm[] = [...nameHarms, ...importHarms]
