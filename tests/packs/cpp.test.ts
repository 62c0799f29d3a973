import { describePack } from './describe-pack.fixture.ts'

describePack('cpp', [
  // What is in a namespace without a name has no name before its own.
  [
    'namespaces with what they hold',
    'namespace a::b {\ninline namespace v1 {\nint f() { return 1; }\n}\n}\nnamespace {\nint hidden() { return 1; }\n}\n',
    ['namespace a::b 1-5', 'namespace a::b::v1 2-4', 'function a::b::v1::f 3-3', 'function hidden 7-7'],
  ],
  [
    'a class with its members',
    'class C : public B {\n public:\n  C() : x(1) {}\n  ~C() = default;\n  void m() const override {}\n  int* p() { return &x; }\n  C& operator=(const C&) = delete;\n  operator bool() const { return true; }\n  void declared();\n  struct In { int a; };\n  using X = int;\n  enum class E { A };\n private:\n  int x;\n};\nclass Later;\n',
    [
      'class C 1-15',
      'method C::C 3-3',
      'method C::~C 4-4',
      'method C::m 5-5',
      'method C::p 6-6',
      'method C::operator= 7-7',
      'method C::operator bool() const 8-8',
      'struct C::In 10-10',
      'type C::X 11-11',
      'enum C::E 12-12',
    ],
  ],
  [
    'methods out of line by their owner',
    'void C::m() {}\nC::C() {}\nC::~C() {}\nint& C::r() { return x; }\nC::operator int() const { return 1; }\nbool C::operator==(const C& c) { return true; }\n',
    [
      'method C::m 1-1',
      'method C::C 2-2',
      'method C::~C 3-3',
      'method C::r 4-4',
      'method C::operator int() const 5-5',
      'method C::operator== 6-6',
    ],
  ],
  [
    'a longer path to an owner',
    'int a::B::f() { return 1; }\nnamespace n {\nvoid a::b::C::g() {}\n}\n',
    ['method a::B::f 1-1', 'namespace n 2-4', 'method n::a::b::C::g 3-3'],
  ],
  [
    'templates as part of what they template',
    'template <typename T>\nclass V {\n  template <typename U>\n  void m(U u) {}\n};\ntemplate <typename T>\nclass V<T*> {};\ntemplate <typename T>\nvoid V<T>::f() {}\ntemplate <typename T>\nT f(T x) { return x; }\ntemplate <>\nint f<int>(int x) { return x; }\ntemplate <class T>\nusing P = V<T>;\ntemplate <typename T>\nconcept Small = sizeof(T) < 8;\ntemplate <typename T>\n  requires Small<T>\nstruct S {};\n',
    [
      'class V 1-5',
      'method V::m 3-4',
      'class V<T*> 6-7',
      'method V::f 8-9',
      'function f 10-11',
      'function f<int> 12-13',
      'type P 14-15',
      'concept Small 16-17',
      'struct S 18-20',
    ],
  ],
  [
    'structs, unions, enums, types and macros',
    'struct S final { int x; void m() {} };\nunion U { int a; };\nenum Old { A };\ntypedef struct { int a; } T;\ntypedef int I;\nusing J = int;\n#define MAX(a, b) a\n',
    [
      'struct S 1-1',
      'method S::m 1-1',
      'union U 2-2',
      'enum Old 3-3',
      'struct T 4-4',
      'type I 5-5',
      'type J 6-6',
      'macro MAX 7-7',
    ],
  ],
  [
    'functions of every form',
    '[[nodiscard]] static int f() { return 1; }\nauto g() -> int { return 1; }\nbool operator<(const A& a, const A& b) { return true; }\nextern "C" {\nvoid c(void) {}\n}\nauto lambda = []() { return 1; };\nint declared();\n',
    ['function f 1-1', 'function g 2-2', 'function operator< 3-3', 'function c 5-5'],
  ],
  ['no comment, neither before nor behind', '/// Of f.\nint f() { return 0; } // why\n', ['function f 2-2']],
  [
    'what parses around a syntax error',
    'int good() { return 0; }\nint bad() { return +; }\nclass After { void m() {} };\n',
    ['function good 1-1', 'class After 3-3', 'method After::m 3-3'],
  ],
])
