import { describePack } from './describe-pack.fixture.ts'

describePack('rust', [
  [
    'items of every kind',
    'pub fn f() {}\npub struct S { a: u8 }\nenum E { A, B }\nunion U { a: u8, b: i8 }\ntrait T: Sized {\n    fn a(&self);\n    fn b(&self) {}\n}\ntype A = S;\nmacro_rules! m { () => {} }\nextern "C" { fn c(); }\n',
    [
      'function f 1-1',
      'struct S 2-2',
      'enum E 3-3',
      'union U 4-4',
      'trait T 5-8',
      'method T::a 6-6',
      'method T::b 7-7',
      'type A 9-9',
      'macro m 10-10',
      'function c 11-11',
    ],
  ],
  [
    'an impl under its type, and methods in it',
    'impl Point {\n    pub const fn new() -> Self { Point }\n}\nimpl<T> List<T> {\n    fn push(&mut self, x: T) {}\n}\n',
    ['impl Point 1-3', 'method Point::new 2-2', 'impl List 4-6', 'method List::push 5-5'],
  ],
  [
    'an impl of a trait under both names',
    "impl Display for Point {\n    fn fmt(&self) {}\n}\nimpl<'a, T> fmt::Debug for Wrapper<'a, T> {\n    type X = u8;\n}\nimpl From<&str> for [u8] {}\n",
    [
      'impl Display for Point 1-3',
      'method Display for Point::fmt 2-2',
      "impl fmt::Debug for Wrapper<'a, T> 4-6",
      "type fmt::Debug for Wrapper<'a, T>::X 5-5",
      'impl From<&str> for [u8] 7-7',
    ],
  ],
  [
    'modules with what they hold, not where they are pointed to',
    'mod m {\n    pub fn f() {\n        fn inner() {}\n    }\n    mod n { struct S; }\n}\nmod elsewhere;\n',
    ['module m 1-6', 'function m::f 2-4', 'function m::f::inner 3-3', 'module m::n 5-5', 'struct m::n::S 5-5'],
  ],
  [
    'attributes and doc comments as part of their item',
    '/// Why.\n/// More.\n#[derive(Debug)]\n// a comment between\n#[repr(C)]\npub struct S;\n\n// no doc\nimpl S {\n    /// Of m.\n    #[inline]\n    fn m() {}\n}\n\n/** Block. */\nfn f() {}\n',
    ['struct S 1-6', 'impl S 9-13', 'method S::m 10-12', 'function f 15-16'],
  ],
  [
    'inner attributes and doc comments within what they stand in',
    '//! Of the file.\n#![allow(x)]\nfn f() {\n    //! Of f.\n}\n',
    ['function f 3-5'],
  ],
  [
    'tests',
    '#[cfg(test)]\nmod tests {\n    use super::*;\n\n    #[test]\n    fn works() {}\n\n    #[tokio::test]\n    #[ignore]\n    async fn waits() {}\n\n    #[cfg(unix)]\n    #[bench]\n    fn fast(b: &mut B) {}\n\n    #[testish]\n    fn helper() {}\n}\n',
    [
      'module tests 1-18',
      'test tests::works 5-6',
      'test tests::waits 8-10',
      'test tests::fast 12-14',
      'function tests::helper 16-17',
    ],
  ],
  [
    'generic functions',
    "pub async unsafe fn f<'a, T: Into<&'a str>>(x: T) -> impl Iterator<Item = u8>\nwhere\n    T: Copy,\n{\n    g()\n}\n",
    ['function f 1-6'],
  ],
  [
    'no closure and no comment that follows',
    'const F: fn() = || {};\nfn f() {\n    let g = |x| x;\n} // why\n',
    ['function f 2-4'],
  ],
  [
    'what parses around a syntax error',
    'fn good() {}\n\nfn bad( {\n}\n\nstruct After;\n',
    ['function good 1-1', 'struct After 6-6'],
  ],
])
