import { describePack } from './describe-pack.fixture.ts'

describePack('php', [
  [
    'classes and methods under the namespace of the file',
    '<?php\nnamespace App\\Models;\n\nuse X\\Y;\n\nfinal class User extends Base {\n  use T;\n  public function save(): void {}\n  private static function make() {}\n}\nfunction helper() {}\n',
    [
      'namespace App\\Models 2-11',
      'class App\\Models\\User 6-10',
      'method App\\Models\\User::save 8-8',
      'method App\\Models\\User::make 9-9',
      'function App\\Models\\helper 11-11',
    ],
  ],
  [
    'several namespaces in one file',
    '<?php\nnamespace A;\nclass X {}\n\nnamespace B;\nclass X {}\n',
    ['namespace A 2-3', 'class A\\X 3-3', 'namespace B 5-6', 'class B\\X 6-6'],
  ],
  [
    'namespaces with braces, and what is in none',
    '<?php\nnamespace A { class X {} }\nnamespace { function g() {} }\n',
    ['namespace A 2-2', 'class A\\X 2-2', 'function g 3-3'],
  ],
  [
    'interfaces, traits and enums',
    '<?php\ninterface I { function m(); }\ntrait T { function t() {} }\nenum Suit: string {\n  case H = "h";\n  function label() {}\n}\n',
    ['interface I 2-2', 'method I::m 2-2', 'trait T 3-3', 'method T::t 3-3', 'enum Suit 4-7', 'method Suit::label 6-6'],
  ],
  [
    'attributes as part of what they say something of, and no comments',
    '<?php\n/** doc */\n#[Attr]\nclass A {\n  /** doc */\n  #[Pure]\n  function m() {}\n}\n',
    ['class A 3-8', 'method A::m 6-7'],
  ],
  [
    'a class without a name and its methods',
    '<?php\nfunction f() {\n  return new class extends B {\n    function m() {}\n  };\n}\n',
    ['function f 2-6', 'class f\\class@anonymous 3-5', 'method f\\class@anonymous::m 4-4'],
  ],
  ['no closures', '<?php\n$f = function () {};\n$g = fn() => 1;\n', []],
  ['a function between HTML', '<p>\n<?php function f() {} ?>\n</p>\n', ['function f 2-2']],
  [
    'what parses around a syntax error',
    '<?php\nfunction good() {}\nfunction bad() { $x = (1 + ; }\nclass A { function m() {} }\n',
    ['function good 2-2', 'class A 4-4', 'method A::m 4-4'],
  ],
])
