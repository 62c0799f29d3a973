import { describePack } from './describe-pack.fixture.ts'

describePack('go', [
  [
    'functions, also generic ones',
    'package a\n\nfunc f() {}\n\nfunc Map[T, U any](xs []T, f func(T) U) []U {\n\treturn nil\n}\n',
    ['function f 3-3', 'function Map 5-7'],
  ],
  [
    'methods under their receiver, without pointer and type parameters',
    'package a\n\nfunc (s *Server) Run() {}\nfunc (Server) Stop() {}\nfunc (l *List[T]) Push(x T) {}\nfunc (l List[T]) Len() int { return 0 }\n',
    ['method Server.Run 3-3', 'method Server.Stop 4-4', 'method List.Push 5-5', 'method List.Len 6-6'],
  ],
  // Methods of an interface are no nodes: nobody works on them alone.
  [
    'declarations of types',
    'package a\n\ntype S struct {\n\tinner struct{ a int }\n}\ntype I interface {\n\tM()\n}\ntype N int\ntype F func()\ntype A = S\ntype G[T any] struct{}\n',
    ['struct S 3-5', 'interface I 6-8', 'type N 9-9', 'type F 10-10', 'type A 11-11', 'struct G 12-12'],
  ],
  [
    'each type of a group by itself',
    'package a\n\ntype (\n\tA struct{}\n\tB interface{}\n\tC = A\n)\n\ntype (\n\tD int\n)\n',
    ['struct A 4-4', 'interface B 5-5', 'type C 6-6', 'type D 9-11'],
  ],
  // Names alone tell: `Testing` is none, since a small letter follows.
  [
    'tests by their names',
    'package a\n\nfunc TestRun(t *testing.T) {\n\tt.Run("sub", func(t *testing.T) {})\n}\nfunc Test_x(t *testing.T) {}\nfunc BenchmarkRun(b *testing.B) {}\nfunc FuzzRun(f *testing.F) {}\nfunc ExampleServer_Run() {}\nfunc Testing() {}\nfunc (s *Suite) TestIt() {}\n',
    [
      'test TestRun 3-5',
      'test Test_x 6-6',
      'test BenchmarkRun 7-7',
      'test FuzzRun 8-8',
      'test ExampleServer_Run 9-9',
      'function Testing 10-10',
      'method Suite.TestIt 11-11',
    ],
  ],
  [
    'types in functions, and no function literal',
    'package a\n\nvar f = func() {}\n\nfunc g() {\n\ttype local struct{}\n\th := func() {}\n\th()\n}\n',
    ['function g 5-9', 'struct g.local 6-6'],
  ],
  // Doc comments are comments by convention, no part of a declaration.
  ['no comment, neither before nor behind', 'package a\n\n// F does.\nfunc F() {} // why\n', ['function F 4-4']],
  [
    'what parses around a syntax error',
    'package a\n\nfunc good() {}\n\nfunc bad( {\n}\n\nfunc after() {}\n',
    ['function good 3-3', 'function after 8-8'],
  ],
])
