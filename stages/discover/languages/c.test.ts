import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const outline = await openOutline('c')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'functions, whatever they return',
    source:
      'int f(void) { return 0; }\nstatic inline char **g(int a) { return 0; }\nint (h)(int a) { return a; }\nvoid (*sig(int a, void (*f)(int)))(int)\n{\n  return f;\n}\nint declared(int);\n',
    nodes: ['function f 1-1', 'function g 2-2', 'function h 3-3', 'function sig 4-7'],
  },
  {
    name: 'types with a body, not their uses',
    source:
      'struct S { int a; };\nunion U { int a; };\nenum E { A, B };\nstruct S *use(struct S *s) { return s; }\nstruct Later;\n',
    nodes: ['struct S 1-1', 'union U 2-2', 'enum E 3-3', 'function use 4-4'],
  },
  {
    name: 'a typedef with a body once',
    source:
      'typedef struct { int a; } T, *P;\ntypedef struct S { int a; } S;\ntypedef enum { A } E;\ntypedef union { int a; } U;\n',
    nodes: ['struct T 1-1', 'struct S 2-2', 'enum E 3-3', 'union U 4-4'],
  },
  {
    name: 'other typedefs',
    source:
      'typedef int I;\ntypedef unsigned long UL;\ntypedef struct S ST;\ntypedef int (*cb)(int);\ntypedef char name[8];\ntypedef void fn(int);\n',
    nodes: ['type I 1-1', 'type UL 2-2', 'type ST 3-3', 'type cb 4-4', 'type name 5-5', 'type fn 6-6'],
  },
  {
    name: 'nested types',
    source: 'struct S {\n  struct In { int a; } in;\n  struct { int b; } anonymous;\n};\n',
    nodes: ['struct S 1-4', 'struct S.In 2-2'],
  },
  {
    name: 'macros that take arguments',
    source: '#define MAX(a, b) \\\n  ((a) > (b) ? (a) : (b))\n#define SIZE 1\n',
    nodes: ['macro MAX 1-2'],
  },
  {
    name: 'what is conditional',
    source: '#ifdef X\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif\n',
    nodes: ['function f 2-2', 'function f 4-4'],
  },
  {
    name: 'no comment, neither before nor behind',
    source: '/* Of f. */\nint f(void) { return 0; } /* why */\n',
    nodes: ['function f 2-2'],
  },
  {
    name: 'what parses around a syntax error',
    source: 'int good(void) { return 0; }\nint bad(void) { return +; }\nint after(void) { return 0; }\n',
    nodes: ['function good 1-1', 'function after 3-3'],
  },
  {
    name: 'lines that end with CRLF',
    source: 'int f(void)\r\n{\r\n  return 0;\r\n}\r\nstruct S {\r\n  int a;\r\n};\r\n',
    nodes: ['function f 1-4', 'struct S 5-7'],
  },
]

describe('the c pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(outline.of(source)).toEqual(nodes)
  })

  it('counts bytes, not characters, behind an emoji', () => {
    const source = '/* 🦀é */ int f(void) { puts("🦀"); }\n'
    const [, node] = outline.nodesOf(source)
    const bytes = new TextEncoder().encode(source).subarray(node?.startByte, node?.endByte)
    expect(new TextDecoder().decode(bytes)).toBe('int f(void) { puts("🦀"); }')
  })

  it('gives definitions of one name ids of their own', () => {
    const nodes = outline.nodesOf('#ifdef X\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif\n')
    expect(nodes.map((node) => node.qualifiedName)).toEqual(['pkg/mod', 'f', 'f'])
    expect(new Set(nodes.map((node) => node.nodeId)).size).toBe(nodes.length)
  })
})
