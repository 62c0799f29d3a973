import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const outline = await openOutline('go')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'functions, also generic ones',
    source: 'package a\n\nfunc f() {}\n\nfunc Map[T, U any](xs []T, f func(T) U) []U {\n\treturn nil\n}\n',
    nodes: ['function f 3-3', 'function Map 5-7'],
  },
  {
    name: 'methods under their receiver, without pointer and type parameters',
    source:
      'package a\n\nfunc (s *Server) Run() {}\nfunc (Server) Stop() {}\nfunc (l *List[T]) Push(x T) {}\nfunc (l List[T]) Len() int { return 0 }\n',
    nodes: ['method Server.Run 3-3', 'method Server.Stop 4-4', 'method List.Push 5-5', 'method List.Len 6-6'],
  },
  {
    name: 'declarations of types',
    // Methods of an interface are no nodes: nobody works on them alone.
    source:
      'package a\n\ntype S struct {\n\tinner struct{ a int }\n}\ntype I interface {\n\tM()\n}\ntype N int\ntype F func()\ntype A = S\ntype G[T any] struct{}\n',
    nodes: ['struct S 3-5', 'interface I 6-8', 'type N 9-9', 'type F 10-10', 'type A 11-11', 'struct G 12-12'],
  },
  {
    name: 'each type of a group by itself',
    source: 'package a\n\ntype (\n\tA struct{}\n\tB interface{}\n\tC = A\n)\n\ntype (\n\tD int\n)\n',
    nodes: ['struct A 4-4', 'interface B 5-5', 'type C 6-6', 'type D 9-11'],
  },
  {
    name: 'tests by their names',
    // Names alone tell: `Testing` is none, since a small letter follows.
    source:
      'package a\n\nfunc TestRun(t *testing.T) {\n\tt.Run("sub", func(t *testing.T) {})\n}\nfunc Test_x(t *testing.T) {}\nfunc BenchmarkRun(b *testing.B) {}\nfunc FuzzRun(f *testing.F) {}\nfunc ExampleServer_Run() {}\nfunc Testing() {}\nfunc (s *Suite) TestIt() {}\n',
    nodes: [
      'test TestRun 3-5',
      'test Test_x 6-6',
      'test BenchmarkRun 7-7',
      'test FuzzRun 8-8',
      'test ExampleServer_Run 9-9',
      'function Testing 10-10',
      'method Suite.TestIt 11-11',
    ],
  },
  {
    name: 'types in functions, and no function literal',
    source: 'package a\n\nvar f = func() {}\n\nfunc g() {\n\ttype local struct{}\n\th := func() {}\n\th()\n}\n',
    nodes: ['function g 5-9', 'struct g.local 6-6'],
  },
  {
    name: 'no comment, neither before nor behind',
    // Doc comments are comments by convention, no part of a declaration.
    source: 'package a\n\n// F does.\nfunc F() {} // why\n',
    nodes: ['function F 4-4'],
  },
  {
    name: 'what parses around a syntax error',
    source: 'package a\n\nfunc good() {}\n\nfunc bad( {\n}\n\nfunc after() {}\n',
    nodes: ['function good 3-3', 'function after 8-8'],
  },
  {
    name: 'lines that end with CRLF',
    source: 'package a\r\n\r\nfunc f() {\r\n}\r\n\r\ntype S struct {\r\n}\r\n',
    nodes: ['function f 3-4', 'struct S 6-7'],
  },
]

describe('the go pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(outline.of(source)).toEqual(nodes)
  })

  it('counts bytes, not characters, behind an emoji', () => {
    const source = 'package a\n\nconst s = "🦀é"; func f() string { return "🦀" }\n'
    const [, node] = outline.nodesOf(source)
    const bytes = new TextEncoder().encode(source).subarray(node?.startByte, node?.endByte)
    expect(new TextDecoder().decode(bytes)).toBe('func f() string { return "🦀" }')
  })

  it('gives definitions of one name ids of their own', () => {
    const nodes = outline.nodesOf('package a\n\nfunc init() {}\nfunc init() {}\n')
    expect(nodes.map((node) => node.qualifiedName)).toEqual(['pkg/mod', 'init', 'init'])
    expect(new Set(nodes.map((node) => node.nodeId)).size).toBe(nodes.length)
  })
})
