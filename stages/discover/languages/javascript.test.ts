import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const outline = await openOutline('javascript')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'functions, generators and async ones',
    source: 'function f() {}\nfunction* g() {}\nasync function h() {\n  function inner() {}\n}\n',
    nodes: ['function f 1-1', 'function g 2-2', 'function h 3-5', 'function h.inner 4-4'],
  },
  {
    name: 'functions that have their name from a constant',
    source: 'const f = () => 1\nlet g = async function () {}\nvar h = function* () {}\n',
    nodes: ['function f 1-1', 'function g 2-2', 'function h 3-3'],
  },
  {
    name: 'each of several declarators by itself',
    source: 'const a = () => 1,\n  b = () => 2\n',
    nodes: ['function a 1-1', 'function b 2-2'],
  },
  {
    name: 'no arrow without a name',
    source: 'list.map((x) => x)\nconst y = list.map((x) => x)\n',
    nodes: [],
  },
  {
    name: 'a class with its members',
    source:
      'class A extends B {\n  constructor() {}\n  static s() {}\n  #hidden() {}\n  get x() {}\n  set x(v) {}\n  handle = () => 1\n  count = 0;\n  *[Symbol.iterator]() {}\n}\n',
    nodes: [
      'class A 1-10',
      'method A.constructor 2-2',
      'method A.s 3-3',
      'method A.#hidden 4-4',
      'method A.x 5-5',
      'method A.x 6-6',
      'method A.handle 7-7',
      'method A.[Symbol.iterator] 9-9',
    ],
  },
  {
    name: 'export and decorators as part of what they belong to',
    source:
      '@dec\nexport class A {\n  @one\n  @two()\n  m() {}\n}\nexport const f = () => 1\nexport async function g() {}\n',
    nodes: ['class A 1-6', 'method A.m 3-5', 'function f 7-7', 'function g 8-8'],
  },
  {
    name: 'exported defaults, without a name as "default"',
    source: 'export default function () {}\n',
    nodes: ['function default 1-1'],
  },
  {
    name: 'an anonymous class that is the default',
    source: 'export default class {\n  m() {}\n}\n',
    nodes: ['class default 1-3', 'method default.m 2-2'],
  },
  {
    name: 'an arrow that is the default',
    source: 'export default () => 1\n',
    nodes: ['function default 1-1'],
  },
  {
    name: 'a default under its name',
    source: 'export default class A {}\n',
    nodes: ['class A 1-1'],
  },
  {
    name: 'class expressions under the name they are given',
    source: 'const A = class {\n  m() {}\n}\nmodule.exports = class B {}\n',
    nodes: ['class A 1-3', 'method A.m 2-2', 'class B 4-4'],
  },
  {
    name: 'methods of an object with a name, not of one without',
    source: "const api = {\n  get() {},\n  post: () => 1,\n  'a-b': function () {},\n  n: 1,\n}\nuse({ get() {} })\n",
    nodes: ['method api.get 2-2', 'method api.post 3-3', 'method api.a-b 4-4'],
  },
  {
    name: 'what CommonJS exports',
    source: 'exports.f = function () {}\nmodule.exports.g = () => 1\nmodule.exports = function () {}\n',
    nodes: ['function f 1-1', 'function g 2-2', 'function module.exports 3-3'],
  },
  {
    name: 'functions that are assigned to a prototype, an object and this',
    source:
      'function A() {\n  this.m = function () {}\n}\nA.prototype.run = function () {}\napp.use = function use() {}\n',
    nodes: ['function A 1-3', 'method A.m 2-2', 'method A.run 4-4', 'method app.use 5-5'],
  },
  {
    name: 'components in a wrapper that keeps the name',
    source:
      'const A = memo(() => null)\nexport const B = React.forwardRef(function B() {})\nconst n = useMemo(() => 1)\n',
    nodes: ['function A 1-1', 'function B 2-2'],
  },
  {
    name: 'tests under the names of what they stand in',
    source:
      "describe('a', () => {\n  it('works', async () => {})\n  describe.skip(`b`, () => {\n    it.each([1])('takes %s', () => {})\n  })\n})\ntest('isn\\'t cut', function () {})\ntest(`of ${n} too`, { timeout: 1 }, () => {})\nconst r = /x/.test('no test')\ntest('no test')\n",
    nodes: [
      'test a 1-6',
      'test a > works 2-2',
      'test a > b 3-5',
      'test a > b > takes %s 4-4',
      "test isn\\'t cut 7-7",
      'test of ${n} too 8-8',
    ],
  },
  {
    name: 'what parses around a syntax error',
    source: 'function good() {}\nclass A {\n  bad( { }\n}\nfunction after() {}\n',
    nodes: ['function good 1-1', 'function after 5-5'],
  },
  {
    name: 'lines that end with CRLF',
    source: 'function f() {\r\n  return 1\r\n}\r\n\r\nclass A {\r\n  m() {}\r\n}\r\n',
    nodes: ['function f 1-3', 'class A 5-7', 'method A.m 6-6'],
  },
  {
    name: 'no comment that follows',
    // JSDoc stays outside: it is a comment by convention, as in the compiler's own `getStart()`.
    source: 'function f() {} // why\n/** Of g. */\nfunction g() {}\n',
    nodes: ['function f 1-1', 'function g 3-3'],
  },
]

describe('the javascript pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(outline.of(source)).toEqual(nodes)
  })

  it('counts bytes, not characters, behind an emoji', () => {
    const source = "// 🦀é\nconst s = '🦀'; function f() { return '🦀' }\n"
    const [, node] = outline.nodesOf(source)
    const bytes = new TextEncoder().encode(source).subarray(node?.startByte, node?.endByte)
    expect(new TextDecoder().decode(bytes)).toBe("function f() { return '🦀' }")
  })

  it('gives definitions of one name ids of their own', () => {
    const nodes = outline.nodesOf('class A {\n  get x() {}\n  set x(v) {}\n}\nfunction f() {}\nfunction f() {}\n')
    expect(nodes.map((node) => node.qualifiedName)).toEqual(['pkg/mod', 'A', 'A.x', 'A.x', 'f', 'f'])
    expect(new Set(nodes.map((node) => node.nodeId)).size).toBe(nodes.length)
  })
})
