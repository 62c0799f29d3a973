import { describePack } from './describe-pack.fixture.ts'

describePack('java', [
  [
    'a class with its members',
    'package a;\n\npublic class C<T> extends D {\n  private int x = 1;\n  public C() {}\n  public <U> U m(U u) { return u; }\n  static void s() {}\n  abstract void a();\n}\n',
    ['class C 3-9', 'constructor C.C 5-5', 'method C.m 6-6', 'method C.s 7-7', 'method C.a 8-8'],
  ],
  [
    'types of every kind',
    'interface I {\n  void f();\n  default void g() {}\n}\nenum E {\n  A { void z() {} }, B;\n  void q() {}\n}\nrecord R(int a) {\n  R {}\n  R(int b, int c) { this(b); }\n}\n@interface An {\n  int value() default 1;\n}\nsealed interface S permits T {}\n',
    [
      'interface I 1-4',
      'method I.f 2-2',
      'method I.g 3-3',
      'enum E 5-8',
      'method E.z 6-6',
      'method E.q 7-7',
      'record R 9-12',
      'constructor R.R 10-10',
      'constructor R.R 11-11',
      'annotation An 13-15',
      'interface S 16-16',
    ],
  ],
  [
    'nested types',
    'class A {\n  static class B {\n    enum C { X }\n    void m() {\n      class Local { void n() {} }\n    }\n  }\n}\n',
    [
      'class A 1-8',
      'class A.B 2-7',
      'enum A.B.C 3-3',
      'method A.B.m 4-6',
      'class A.B.m.Local 5-5',
      'method A.B.m.Local.n 5-5',
    ],
  ],
  [
    'annotations as part of what they belong to',
    '@A\n@B(1)\nclass C {\n  @Override\n  // why\n  @Deprecated\n  public void m() {}\n  @Inject\n  C() {}\n}\n',
    ['class C 1-10', 'method C.m 4-7', 'constructor C.C 8-9'],
  ],
  [
    'each of the overloads',
    'class C {\n  C() {}\n  C(int x) {}\n  void m() {}\n  void m(int x) {}\n}\n',
    ['class C 1-6', 'constructor C.C 2-2', 'constructor C.C 3-3', 'method C.m 4-4', 'method C.m 5-5'],
  ],
  [
    'methods of an anonymous class under what holds it',
    'class C {\n  Runnable r = new Runnable() {\n    public void run() {}\n  };\n  void m() {\n    list.forEach(x -> {});\n  }\n}\n',
    ['class C 1-8', 'method C.run 3-3', 'method C.m 5-7'],
  ],
  // Javadoc is a comment by convention, no part of a declaration.
  [
    'no comment, neither before nor behind',
    '/** Of C. */\nclass C {\n  /** Of m. */\n  void m() {} // why\n}\n',
    ['class C 2-5', 'method C.m 4-4'],
  ],
  [
    'what parses around a syntax error',
    'class A {\n  void good() {}\n  void bad( { }\n}\nclass After {\n  void m() {}\n}\n',
    ['class A 1-4', 'method A.good 2-2', 'class After 5-7', 'method After.m 6-6'],
  ],
])
