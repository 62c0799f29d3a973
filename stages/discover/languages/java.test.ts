import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const outline = await openOutline('java')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'a class with its members',
    source:
      'package a;\n\npublic class C<T> extends D {\n  private int x = 1;\n  public C() {}\n  public <U> U m(U u) { return u; }\n  static void s() {}\n  abstract void a();\n}\n',
    nodes: ['class C 3-9', 'constructor C.C 5-5', 'method C.m 6-6', 'method C.s 7-7', 'method C.a 8-8'],
  },
  {
    name: 'types of every kind',
    source:
      'interface I {\n  void f();\n  default void g() {}\n}\nenum E {\n  A { void z() {} }, B;\n  void q() {}\n}\nrecord R(int a) {\n  R {}\n  R(int b, int c) { this(b); }\n}\n@interface An {\n  int value() default 1;\n}\nsealed interface S permits T {}\n',
    nodes: [
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
  },
  {
    name: 'nested types',
    source:
      'class A {\n  static class B {\n    enum C { X }\n    void m() {\n      class Local { void n() {} }\n    }\n  }\n}\n',
    nodes: [
      'class A 1-8',
      'class A.B 2-7',
      'enum A.B.C 3-3',
      'method A.B.m 4-6',
      'class A.B.m.Local 5-5',
      'method A.B.m.Local.n 5-5',
    ],
  },
  {
    name: 'annotations as part of what they belong to',
    source:
      '@A\n@B(1)\nclass C {\n  @Override\n  // why\n  @Deprecated\n  public void m() {}\n  @Inject\n  C() {}\n}\n',
    nodes: ['class C 1-10', 'method C.m 4-7', 'constructor C.C 8-9'],
  },
  {
    name: 'each of the overloads',
    source: 'class C {\n  C() {}\n  C(int x) {}\n  void m() {}\n  void m(int x) {}\n}\n',
    nodes: ['class C 1-6', 'constructor C.C 2-2', 'constructor C.C 3-3', 'method C.m 4-4', 'method C.m 5-5'],
  },
  {
    name: 'methods of an anonymous class under what holds it',
    source:
      'class C {\n  Runnable r = new Runnable() {\n    public void run() {}\n  };\n  void m() {\n    list.forEach(x -> {});\n  }\n}\n',
    nodes: ['class C 1-8', 'method C.run 3-3', 'method C.m 5-7'],
  },
  {
    name: 'no comment, neither before nor behind',
    // Javadoc is a comment by convention, no part of a declaration.
    source: '/** Of C. */\nclass C {\n  /** Of m. */\n  void m() {} // why\n}\n',
    nodes: ['class C 2-5', 'method C.m 4-4'],
  },
  {
    name: 'what parses around a syntax error',
    source: 'class A {\n  void good() {}\n  void bad( { }\n}\nclass After {\n  void m() {}\n}\n',
    nodes: ['class A 1-4', 'method A.good 2-2', 'class After 5-7', 'method After.m 6-6'],
  },
  {
    name: 'lines that end with CRLF',
    source: 'class A {\r\n  void m() {\r\n  }\r\n}\r\n',
    nodes: ['class A 1-4', 'method A.m 2-3'],
  },
]

describe('the java pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(outline.of(source)).toEqual(nodes)
  })

  it('counts bytes, not characters, behind an emoji', () => {
    const source = '/* 🦀é */ class A { String s = "🦀"; }\n'
    const [, node] = outline.nodesOf(source)
    const bytes = new TextEncoder().encode(source).subarray(node?.startByte, node?.endByte)
    expect(new TextDecoder().decode(bytes)).toBe('class A { String s = "🦀"; }')
  })

  it('gives definitions of one name ids of their own', () => {
    const nodes = outline.nodesOf('class C {\n  void m() {}\n  void m(int x) {}\n}\n')
    expect(nodes.map((node) => node.qualifiedName)).toEqual(['pkg/mod', 'C', 'C.m', 'C.m'])
    expect(new Set(nodes.map((node) => node.nodeId)).size).toBe(nodes.length)
  })
})
