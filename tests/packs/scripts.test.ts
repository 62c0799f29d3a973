import { describePack, type OutlineCase } from './describe-pack.fixture.ts'

const plain: OutlineCase[] = [
  [
    'functions, generators and async ones',
    'function f() {}\nfunction* g() {}\nasync function h() {\n  function inner() {}\n}\n',
    ['function f 1-1', 'function g 2-2', 'function h 3-5', 'function h.inner 4-4'],
  ],
  [
    'functions that have their name from a constant',
    'const f = () => 1\nlet g = async function () {}\nvar h = function* () {}\n',
    ['function f 1-1', 'function g 2-2', 'function h 3-3'],
  ],
  [
    'each of several declarators by itself',
    'const a = () => 1,\n  b = () => 2\n',
    ['function a 1-1', 'function b 2-2'],
  ],
  ['no arrow without a name', 'list.map((x) => x)\nconst y = list.map((x) => x)\n', []],
  [
    'a class with its members',
    'class A extends B {\n  constructor() {}\n  static s() {}\n  #hidden() {}\n  get x() {}\n  set x(v) {}\n  handle = () => 1\n  count = 0;\n  *[Symbol.iterator]() {}\n}\n',
    [
      'class A 1-10',
      'method A.constructor 2-2',
      'method A.s 3-3',
      'method A.#hidden 4-4',
      'method A.x 5-5',
      'method A.x 6-6',
      'method A.handle 7-7',
      'method A.[Symbol.iterator] 9-9',
    ],
  ],
  [
    'export and decorators as part of what they belong to',
    '@dec\nexport class A {\n  @one\n  @two()\n  m() {}\n}\nexport const f = () => 1\nexport async function g() {}\n',
    ['class A 1-6', 'method A.m 3-5', 'function f 7-7', 'function g 8-8'],
  ],
  ['exported defaults, without a name as "default"', 'export default function () {}\n', ['function default 1-1']],
  [
    'an anonymous class that is the default',
    'export default class {\n  m() {}\n}\n',
    ['class default 1-3', 'method default.m 2-2'],
  ],
  ['an arrow that is the default', 'export default () => 1\n', ['function default 1-1']],
  ['a default under its name', 'export default class A {}\n', ['class A 1-1']],
  [
    'class expressions under the name they are given',
    'const A = class {\n  m() {}\n}\nmodule.exports = class B {}\n',
    ['class A 1-3', 'method A.m 2-2', 'class B 4-4'],
  ],
  [
    'methods of an object with a name, not of one without',
    "const api = {\n  get() {},\n  post: () => 1,\n  'a-b': function () {},\n  n: 1,\n}\nuse({ get() {} })\n",
    ['method api.get 2-2', 'method api.post 3-3', 'method api.a-b 4-4'],
  ],
  [
    'what CommonJS exports',
    'exports.f = function () {}\nmodule.exports.g = () => 1\nmodule.exports = function () {}\n',
    ['function f 1-1', 'function g 2-2', 'function module.exports 3-3'],
  ],
  [
    'functions that are assigned to a prototype, an object and this',
    'function A() {\n  this.m = function () {}\n}\nA.prototype.run = function () {}\napp.use = function use() {}\n',
    ['function A 1-3', 'method A.m 2-2', 'method A.run 4-4', 'method app.use 5-5'],
  ],
  [
    'tests under the names of what they stand in',
    "describe('a', () => {\n  it('works', async () => {})\n  describe.skip(`b`, () => {\n    it.each([1])('takes %s', () => {})\n  })\n})\ntest('isn\\'t cut', function () {})\ntest(`of ${n} too`, { timeout: 1 }, () => {})\nconst r = /x/.test('no test')\ntest('no test')\n",
    [
      'test a 1-6',
      'test a > works 2-2',
      'test a > b 3-5',
      'test a > b > takes %s 4-4',
      "test isn\\'t cut 7-7",
      'test of ${n} too 8-8',
    ],
  ],
  [
    'what parses around a syntax error',
    'function good() {}\nclass A {\n  bad( { }\n}\nfunction after() {}\n',
    ['function good 1-1', 'function after 5-5'],
  ],
  // JSDoc stays outside: it is a comment by convention, as in the compiler's own `getStart()`.
  [
    'no comment that follows',
    'function f() {} // why\n/** Of g. */\nfunction g() {}\n',
    ['function f 1-1', 'function g 3-3'],
  ],
]

const typed: OutlineCase[] = [
  // Members of an interface and of an enum are no nodes: nobody works on them alone.
  [
    'declarations of types',
    'interface A<T> extends B {\n  m(): void\n}\ntype U<T> = T | null\nenum E { A, B }\nexport const enum F { A }\nexport interface X {}\nexport type Y = X\n',
    ['interface A 1-3', 'type U 4-4', 'enum E 5-5', 'enum F 6-6', 'interface X 7-7', 'type Y 8-8'],
  ],
  [
    'abstract classes and their signatures',
    'export abstract class A {\n  abstract m(): void\n  private n(): void {}\n}\n',
    ['class A 1-4', 'method A.m 2-2', 'method A.n 3-3'],
  ],
  [
    'decorators of a method with comments between them',
    'class A {\n  @one\n  // why\n  @two()\n  async m() {}\n  plain() {}\n  @dec field = () => 1\n}\n',
    ['class A 1-8', 'method A.m 2-5', 'method A.plain 6-6', 'method A.field 7-7'],
  ],
  // Signatures are nodes: their people document each, editors list each, and declaration files hold nothing else.
  [
    'overload signatures beside the implementation',
    'function f(a: string): void\nfunction f(a: number): void\nfunction f(a: unknown): void {}\nclass A {\n  m(a: string): void\n  m(a: unknown): void {}\n}\n',
    ['function f 1-1', 'function f 2-2', 'function f 3-3', 'class A 4-7', 'method A.m 5-5', 'method A.m 6-6'],
  ],
  [
    'namespaces with what they hold',
    'namespace N.M {\n  export function f() {}\n}\nexport namespace O {}\n',
    ['module N.M 1-3', 'function N.M.f 2-2', 'module O 4-4'],
  ],
  [
    'what is declared elsewhere',
    "declare function f(): void\nexport declare class A {\n  m(): void\n}\ndeclare module 'pkg' {\n  export function g(): void\n}\ndeclare global {\n  interface Window {}\n}\n",
    ['function f 1-1', 'class A 2-4', 'method A.m 3-3', 'module pkg 5-7', 'function pkg.g 6-6', 'interface Window 9-9'],
  ],
  [
    'generic functions',
    'const f = async <T,>(x: T): Promise<T> => x\nfunction g<T extends object>(x: T): T {\n  return x\n}\n',
    ['function f 1-1', 'function g 2-4'],
  ],
  [
    'methods of an object that is checked or asserted',
    'const a = { m() {} } satisfies Api\nexport const b = { n: () => 1 } as const\n',
    ['method a.m 1-1', 'method b.n 2-2'],
  ],
]

const wrapped: OutlineCase[] = [
  [
    'components in a wrapper that keeps the name',
    'const A = memo(() => null)\nexport const B = React.forwardRef(function B() {})\nconst n = useMemo(() => 1)\n',
    ['function A 1-1', 'function B 2-2'],
  ],
]

const components: OutlineCase[] = [
  [
    'components',
    'export function App({ a }: Props) {\n  const onClick = () => 1\n  return <A onClick={() => 2}>{a}</A>\n}\nexport const B: FC<Props> = () => <b />\nexport default () => <App />\n',
    ['function App 1-4', 'function App.onClick 2-2', 'function B 5-5', 'function default 6-6'],
  ],
  [
    'class components',
    'class A extends Component<P> {\n  state = {}\n  render() {\n    return <p>{this.x}</p>\n  }\n}\n',
    ['class A 1-6', 'method A.render 3-5'],
  ],
]

describePack('javascript', [...plain, ...wrapped])
describePack('typescript', [...plain, ...typed])
describePack('tsx', [...plain, ...typed, ...wrapped, ...components])
