import { describeEdges } from './edges.fixture.ts'

describeEdges('TypeScript and JavaScript', [
  [
    'named, default, namespace, re-exported and required names, and .js written for .ts',
    {
      'a.ts': 'export function f() {}\nexport default class Thing { run() {} }\n',
      'lib/index.ts': "export { f as g } from '../a.js'\nexport * from '../a'\n",
      'b.ts':
        "import Thing, { f } from './a.js'\nimport * as a from './a.ts'\nimport { g } from './lib'\n" +
        'export function use() {\n  f()\n  a.f()\n  g()\n  const t = new Thing()\n  t.run()\n}\n',
      'c.cjs': "const { h } = require('./d')\nconst d = require('./d')\nfunction go() { h(); d.h() }\n",
      'd.js': 'function h() {}\nmodule.exports = { h }\n',
    },
    [
      'calls b.ts#use -> a.ts#Thing',
      'calls b.ts#use -> a.ts#Thing.run',
      'calls b.ts#use -> a.ts#f',
      'calls c.cjs#go -> d.js#h',
      'imports b.ts -> a.ts',
      'imports b.ts -> a.ts#Thing',
      'imports b.ts -> a.ts#f',
      'imports b.ts -> lib/index.ts',
      'imports c.cjs -> d.js',
      'imports c.cjs -> d.js#h',
      'imports lib/index.ts -> a.ts',
      'imports lib/index.ts -> a.ts#f',
    ],
  ],
  [
    'names of package.json, of tsconfig.json and of packages of the repository; nothing of others',
    {
      'package.json': '{"imports": {"#core/*": "./core/*"}}',
      'tsconfig.json': '{\n  "compilerOptions": {\n    /* aliases */ "paths": {"@/*": ["./core/*"],}, // all\n  },\n}',
      'packages/kit/package.json': '{"name": "@x/kit", "exports": {".": {"import": "./src/main.ts"}}}',
      'packages/kit/src/main.ts': 'export const kit = () => 1\n',
      'core/a.ts': 'export function f() {}\n',
      'app.ts':
        "import { f } from '#core/a.ts'\nimport { f as g } from '@/a'\nimport { kit } from '@x/kit'\nimport { z } from 'zod'\nimport '../../out.ts'\nf()\nkit()\nz()\n",
    },
    [
      'calls app.ts -> core/a.ts#f',
      'calls app.ts -> packages/kit/src/main.ts#kit',
      'imports app.ts -> core/a.ts#f',
      'imports app.ts -> packages/kit/src/main.ts#kit',
    ],
  ],
  [
    'this, super, fields, bases and interfaces; a nearer name hides',
    {
      'base.ts': 'export interface Can { go(): void }\nexport class Base { save() {} }\n',
      'sub.ts':
        "import { Base, type Can } from './base.ts'\nclass Sub extends Base implements Can {\n  inner: Base\n  go() { this.save(); this.inner.save() }\n" +
        '  save() { super.save() }\n}\nfunction f() {}\nexport const hidden = (f: () => void) => { f() }\n',
    },
    [
      'calls sub.ts#Sub.go -> base.ts#Base.save',
      'calls sub.ts#Sub.go -> sub.ts#Sub.save',
      'calls sub.ts#Sub.save -> base.ts#Base.save',
      'imports sub.ts -> base.ts#Base',
      'imports sub.ts -> base.ts#Can',
      'inherits sub.ts#Sub -> base.ts#Base',
      'inherits sub.ts#Sub -> base.ts#Can',
    ],
  ],
  [
    'tests, components, circles and syntax errors',
    {
      'a.ts': "import { g } from './b.ts'\nexport function f() { g() }\n",
      'b.ts': "import { f } from './a.ts'\nexport function g() { f() }\nexport function h( {\n",
      'a.test.ts': "import { f } from './a.ts'\ndescribe('f', () => {\n  it('works', () => { f() })\n})\n",
      'view.tsx': 'const Button = () => 1\nexport const Page = () => <Button />\n',
    },
    [
      'calls a.test.ts#f > works -> a.ts#f',
      'calls a.ts#f -> b.ts#g',
      'calls b.ts#g -> a.ts#f',
      'calls view.tsx#Page -> view.tsx#Button',
      'imports a.test.ts -> a.ts#f',
      'imports a.ts -> b.ts#g',
      'imports b.ts -> a.ts#f',
      'tests a.test.ts#f -> a.ts#f ~',
      'tests a.test.ts#f > works -> a.ts#f',
    ],
  ],
])
