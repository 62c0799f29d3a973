import { describePack } from './describe-pack.fixture.ts'

describePack('c_sharp', [
  [
    'types of all sorts in a namespace, and namespaces in one',
    'namespace A.B {\n  namespace C { class X {} }\n  struct S {}\n  interface I { void M(); }\n  enum E { One }\n  record R(int X);\n  record struct RS(int X);\n  delegate void D(int x);\n}\n',
    [
      'namespace A.B 1-9',
      'namespace A.B.C 2-2',
      'class A.B.C.X 2-2',
      'struct A.B.S 3-3',
      'interface A.B.I 4-4',
      'method A.B.I.M 4-4',
      'enum A.B.E 5-5',
      'record A.B.R 6-6',
      'record A.B.RS 7-7',
      'delegate A.B.D 8-8',
    ],
  ],
  [
    'a namespace over the rest of its file',
    'using System;\nnamespace A.B;\n\nclass X\n{\n}\n\nclass Y {}\n',
    ['namespace A.B 2-8', 'class A.B.X 4-6', 'class A.B.Y 8-8'],
  ],
  [
    'the members of a generic class, with their attributes',
    '[Serializable]\nclass Foo<T> : IBar where T : class\n{\n  [Obsolete]\n  public Foo(int x) {}\n  ~Foo() {}\n  public int P { get; set; }\n  public int this[int i] => 1;\n  public event Action E;\n  [A, B]\n  public async Task<U> Do<U>(U x) { void Local() {} }\n}\n',
    [
      'class Foo 1-12',
      'constructor Foo.Foo 4-5',
      'destructor Foo.~Foo 6-6',
      'property Foo.P 7-7',
      'property Foo.this 8-8',
      'event Foo.E 9-9',
      'method Foo.Do 10-11',
      'function Foo.Do.Local 11-11',
    ],
  ],
  [
    'operators by what they do',
    'class A {\n  public static A operator +(A a, A b) => a;\n  public static implicit operator int(A a) => 1;\n}\n',
    ['class A 1-4', 'operator A.operator + 2-2', 'operator A.operator int 3-3'],
  ],
  [
    'members that are written for an interface under its name',
    'class A : IB<int>, IC {\n  void IB<int>.M() {}\n  void IC.M() {}\n  int IC.P => 1;\n}\n',
    ['class A 1-5', 'method A.IB<int>.M 2-2', 'method A.IC.M 3-3', 'property A.IC.P 4-4'],
  ],
  [
    'what parses around a syntax error',
    'class A {\n  void Good() {}\n  void Bad() { var x = (1 + ; }\n}\nclass B { void M() {} }\n',
    ['class A 1-4', 'method A.Good 2-2', 'class B 5-5', 'method B.M 5-5'],
  ],
])
