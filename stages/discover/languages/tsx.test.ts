import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const outline = await openOutline('tsx')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'components',
    source:
      'export function App({ a }: Props) {\n  const onClick = () => 1\n  return <A onClick={() => 2}>{a}</A>\n}\nexport const B: FC<Props> = () => <b />\nexport default () => <App />\n',
    nodes: ['function App 1-4', 'function App.onClick 2-2', 'function B 5-5', 'function default 6-6'],
  },
  {
    name: 'class components',
    source: 'class A extends Component<P> {\n  state = {}\n  render() {\n    return <p>{this.x}</p>\n  }\n}\n',
    nodes: ['class A 1-6', 'method A.render 3-5'],
  },
  {
    name: 'each of several declarators by itself',
    source: 'const a = () => 1,\n  b = () => 2\n',
    nodes: ['function a 1-1', 'function b 2-2'],
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
    name: 'declarations of types',
    // Members of an interface and of an enum are no nodes: nobody works on them alone.
    source:
      'interface A<T> extends B {\n  m(): void\n}\ntype U<T> = T | null\nenum E { A, B }\nexport const enum F { A }\nexport interface X {}\nexport type Y = X\n',
    nodes: ['interface A 1-3', 'type U 4-4', 'enum E 5-5', 'enum F 6-6', 'interface X 7-7', 'type Y 8-8'],
  },
  {
    name: 'abstract classes and their signatures',
    source: 'export abstract class A {\n  abstract m(): void\n  private n(): void {}\n}\n',
    nodes: ['class A 1-4', 'method A.m 2-2', 'method A.n 3-3'],
  },
  {
    name: 'decorators of a method with comments between them',
    source: 'class A {\n  @one\n  // why\n  @two()\n  async m() {}\n  plain() {}\n  @dec field = () => 1\n}\n',
    nodes: ['class A 1-8', 'method A.m 2-5', 'method A.plain 6-6', 'method A.field 7-7'],
  },
  {
    name: 'overload signatures beside the implementation',
    // Signatures are nodes: their people document each, editors list each, and declaration files hold nothing else.
    source:
      'function f(a: string): void\nfunction f(a: number): void\nfunction f(a: unknown): void {}\nclass A {\n  m(a: string): void\n  m(a: unknown): void {}\n}\n',
    nodes: ['function f 1-1', 'function f 2-2', 'function f 3-3', 'class A 4-7', 'method A.m 5-5', 'method A.m 6-6'],
  },
  {
    name: 'namespaces with what they hold',
    source: 'namespace N.M {\n  export function f() {}\n}\nexport namespace O {}\n',
    nodes: ['module N.M 1-3', 'function N.M.f 2-2', 'module O 4-4'],
  },
  {
    name: 'what is declared elsewhere',
    source:
      "declare function f(): void\nexport declare class A {\n  m(): void\n}\ndeclare module 'pkg' {\n  export function g(): void\n}\ndeclare global {\n  interface Window {}\n}\n",
    nodes: [
      'function f 1-1',
      'class A 2-4',
      'method A.m 3-3',
      'module pkg 5-7',
      'function pkg.g 6-6',
      'interface Window 9-9',
    ],
  },
  {
    name: 'generic functions',
    source: 'const f = async <T,>(x: T): Promise<T> => x\nfunction g<T extends object>(x: T): T {\n  return x\n}\n',
    nodes: ['function f 1-1', 'function g 2-4'],
  },
  {
    name: 'methods of an object that is checked or asserted',
    source: 'const a = { m() {} } satisfies Api\nexport const b = { n: () => 1 } as const\n',
    nodes: ['method a.m 1-1', 'method b.n 2-2'],
  },
]

describe('the tsx pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(outline.of(source)).toEqual(nodes)
  })

  it('counts bytes, not characters, behind an emoji', () => {
    const source = "const s = '🦀'; function F() { return <b>🦀</b> }\n"
    const [, node] = outline.nodesOf(source)
    const bytes = new TextEncoder().encode(source).subarray(node?.startByte, node?.endByte)
    expect(new TextDecoder().decode(bytes)).toBe('function F() { return <b>🦀</b> }')
  })

  it('gives definitions of one name ids of their own', () => {
    const nodes = outline.nodesOf('function f(a: string): void\nfunction f(a: unknown): void {}\n')
    expect(nodes.map((node) => node.qualifiedName)).toEqual(['pkg/mod', 'f', 'f'])
    expect(new Set(nodes.map((node) => node.nodeId)).size).toBe(nodes.length)
  })
})
