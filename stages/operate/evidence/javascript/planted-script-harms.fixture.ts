import type { TextCheck } from '#domain/checks.ts'
import { defaultRulesOf } from '#domain/path-rules.ts'
import type { PlantedHarm } from '../planted-harms.fixture.ts'

type Harm = { check: TextCheck; harm: string; path?: string; says: string; before: string; after: string }

const harms: Harm[] = [
  {
    check: 'parses',
    harm: 'JavaScript that does not parse',
    before: 'print(1)\n',
    after: 'print(1))\n',
    says: 'line 1',
  },
  {
    check: 'lint_before_after',
    harm: 'a name that JavaScript does not know',
    before: 'console.log(1)\n',
    after: 'console.log(unheard)\n',
    says: "no-undef 'unheard' is not defined",
  },
  {
    check: 'lint_before_after',
    harm: 'an assignment to a constant',
    before: 'let a = 1\na = 2\nexport { a }\n',
    after: 'const a = 1\na = 2\nexport { a }\n',
    says: 'no-const-assign',
  },
  {
    check: 'comments_kept',
    harm: 'a comment of JavaScript that goes',
    before: '// why\nlet a = 1 // unit: ms\nexport { a }\n',
    after: '// why\nconst a = 1\nexport { a }\n',
    says: 'unit: ms',
  },
  {
    check: 'comments_kept',
    harm: 'a directive that leaves its line',
    before: '// @ts-expect-error: no types\nuse(1)\nuse(2)\n',
    after: 'use(1)\n// @ts-expect-error: no types\nuse(2)\n',
    says: 'ts-expect-error',
  },
  {
    check: 'comments_kept',
    harm: 'a new comment that silences the linter',
    before: 'export const a = 1\n',
    after: '// eslint-disable-next-line\nexport const a = 1\n',
    says: 'is new',
  },
  {
    check: 'comments_kept',
    harm: 'a new comment that hides code from coverage',
    before: 'export const a = 1\n',
    after: '// deno-coverage-ignore\nexport const a = 1\n',
    says: 'is new',
  },
  {
    check: 'comments_kept',
    harm: 'a new comment that gives the source another address',
    before: 'export const a = 1\n',
    after: 'export const a = 1\n//# sourceURL=other.js\n',
    says: 'is new',
  },
  {
    check: 'names_kept',
    harm: 'an export that goes',
    before: 'export const a = 1\nexport const b = 2\n',
    after: 'export const b = 2\n',
    says: '"a" is gone; it was exported',
  },
  {
    check: 'names_kept',
    harm: 'a name that is exported under another one',
    before: 'const a = 1\nexport { a as b }\n',
    after: 'const a = 1\nexport { a }\n',
    says: '"b" is gone',
  },
  {
    check: 'names_kept',
    harm: 'a property of module.exports',
    before: 'const a = 1\nmodule.exports = { a, b: 2 }\n',
    after: 'const a = 1\nmodule.exports = { a }\n',
    says: '"b" is gone',
  },
  {
    check: 'names_kept',
    harm: 'a variable of a script that becomes a constant, which the next script of the page assigns',
    before: "let score = 0\nif (typeof module !== 'undefined') module.exports = { score, fs: require('fs') }\n",
    after: "const score = 0\nif (typeof module !== 'undefined') module.exports = { score, fs: require('fs') }\n",
    says: '"score" became a constant',
  },
  {
    check: 'names_kept',
    harm: 'a field of a class',
    before: 'export class A {\n  x = 1\n  y = 2\n}\n',
    after: 'export class A {\n  y = 2\n}\n',
    path: 'a.ts',
    says: '"A.x" is gone',
  },
  {
    check: 'needed_imports_kept',
    harm: 'an import for its effect',
    before: "import './polyfill.js'\nexport const a = 1\n",
    after: 'export const a = 1\n',
    says: '"./polyfill.js" is gone',
  },
  {
    check: 'needed_imports_kept',
    harm: 'the last import of a module, whose loading may have an effect',
    before: "import { a } from './a.js'\nexport const b = 1\n",
    after: 'export const b = 1\n',
    says: 'is not loaded any more',
  },
  {
    check: 'needed_imports_kept',
    harm: 'modules that are loaded in another order',
    before: "import './a.js'\nimport './b.js'\n",
    after: "import './b.js'\nimport './a.js'\n",
    says: 'another order',
  },
  {
    check: 'line_length',
    harm: 'a longer line than before',
    before: `export let a = '${'x'.repeat(70)}'\n`,
    after: `export const a = '${'x'.repeat(70)}'\n`,
    says: 'it has 89 characters, 88 are allowed',
  },
  {
    check: 'bodies_kept',
    harm: 'a handler that is emptied',
    before: 'export function f(g, h) {\n  try {\n    g()\n  } catch {\n    h()\n  }\n  h()\n}\n',
    after: 'export function f(g, h) {\n  try {\n    g()\n  } catch {\n  }\n  h()\n}\n',
    says: 'has lost its body',
  },
  {
    check: 'bodies_kept',
    harm: 'a statement that moves into a branch',
    before: 'export function f(a) {\n  if (a) {\n    a.b()\n  }\n  a.c()\n}\n',
    after: 'export function f(a) {\n  if (a) {\n    a.b()\n    a.c()\n  }\n}\n',
    says: 'stands in another body now',
  },
  {
    check: 'operands_kept',
    harm: 'a comparison the other way round',
    before: 'export const f = (a, b) => a.x < b.y\n',
    after: 'export const f = (a, b) => b.y < a.x\n',
    says: 'are swapped',
  },
  {
    check: 'operands_kept',
    harm: 'a condition that is asked later',
    before: 'export const f = (a) => a && a.b\n',
    after: 'export const f = (a) => a.b && a\n',
    says: 'are swapped',
  },
  {
    check: 'operands_kept',
    harm: 'calls in another order, behind a function',
    before: 'export const f = (a, b, c) => a(() => c(), a(), b.c())\n',
    after: 'export const f = (a, b, c) => a(() => c(), b.c(), a())\n',
    says: 'is evaluated in another order',
  },
]

/** Harms in JavaScript and TypeScript, each with the one check that detects it. */
export const plantedScriptHarms: PlantedHarm[] = harms.map((harm) => {
  const path = harm.path ?? 'a.js'
  return { ...harm, path, rules: defaultRulesOf(path) }
})
