import { describePack } from './describe-pack.fixture.ts'

describePack('c', [
  [
    'functions, whatever they return',
    'int f(void) { return 0; }\nstatic inline char **g(int a) { return 0; }\nint (h)(int a) { return a; }\nvoid (*sig(int a, void (*f)(int)))(int)\n{\n  return f;\n}\nint declared(int);\n',
    ['function f 1-1', 'function g 2-2', 'function h 3-3', 'function sig 4-7'],
  ],
  [
    'types with a body, not their uses',
    'struct S { int a; };\nunion U { int a; };\nenum E { A, B };\nstruct S *use(struct S *s) { return s; }\nstruct Later;\n',
    ['struct S 1-1', 'union U 2-2', 'enum E 3-3', 'function use 4-4'],
  ],
  [
    'a typedef with a body once',
    'typedef struct { int a; } T, *P;\ntypedef struct S { int a; } S;\ntypedef enum { A } E;\ntypedef union { int a; } U;\n',
    ['struct T 1-1', 'struct S 2-2', 'enum E 3-3', 'union U 4-4'],
  ],
  [
    'other typedefs',
    'typedef int I;\ntypedef unsigned long UL;\ntypedef struct S ST;\ntypedef int (*cb)(int);\ntypedef char name[8];\ntypedef void fn(int);\n',
    ['type I 1-1', 'type UL 2-2', 'type ST 3-3', 'type cb 4-4', 'type name 5-5', 'type fn 6-6'],
  ],
  [
    'nested types',
    'struct S {\n  struct In { int a; } in;\n  struct { int b; } anonymous;\n};\n',
    ['struct S 1-4', 'struct S.In 2-2'],
  ],
  [
    'macros that take arguments',
    '#define MAX(a, b) \\\n  ((a) > (b) ? (a) : (b))\n#define SIZE 1\n',
    ['macro MAX 1-2'],
  ],
  [
    'what is conditional',
    '#ifdef X\nint f(void) { return 1; }\n#else\nint f(void) { return 2; }\n#endif\n',
    ['function f 2-2', 'function f 4-4'],
  ],
  ['no comment, neither before nor behind', '/* Of f. */\nint f(void) { return 0; } /* why */\n', ['function f 2-2']],
  [
    'what parses around a syntax error',
    'int good(void) { return 0; }\nint bad(void) { return +; }\nint after(void) { return 0; }\n',
    ['function good 1-1', 'function after 3-3'],
  ],
])
