import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const php = await openOutline('php')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'classes and methods under the namespace of the file',
    source:
      '<?php\nnamespace App\\Models;\n\nuse X\\Y;\n\nfinal class User extends Base {\n  use T;\n  public function save(): void {}\n  private static function make() {}\n}\nfunction helper() {}\n',
    nodes: [
      'namespace App\\Models 2-11',
      'class App\\Models\\User 6-10',
      'method App\\Models\\User::save 8-8',
      'method App\\Models\\User::make 9-9',
      'function App\\Models\\helper 11-11',
    ],
  },
  {
    name: 'several namespaces in one file',
    source: '<?php\nnamespace A;\nclass X {}\n\nnamespace B;\nclass X {}\n',
    nodes: ['namespace A 2-3', 'class A\\X 3-3', 'namespace B 5-6', 'class B\\X 6-6'],
  },
  {
    name: 'namespaces with braces, and what is in none',
    source: '<?php\nnamespace A { class X {} }\nnamespace { function g() {} }\n',
    nodes: ['namespace A 2-2', 'class A\\X 2-2', 'function g 3-3'],
  },
  {
    name: 'interfaces, traits and enums',
    source:
      '<?php\ninterface I { function m(); }\ntrait T { function t() {} }\nenum Suit: string {\n  case H = "h";\n  function label() {}\n}\n',
    nodes: [
      'interface I 2-2',
      'method I::m 2-2',
      'trait T 3-3',
      'method T::t 3-3',
      'enum Suit 4-7',
      'method Suit::label 6-6',
    ],
  },
  {
    name: 'attributes as part of what they say something of, and no comments',
    source: '<?php\n/** doc */\n#[Attr]\nclass A {\n  /** doc */\n  #[Pure]\n  function m() {}\n}\n',
    nodes: ['class A 3-8', 'method A::m 6-7'],
  },
  {
    name: 'a class without a name and its methods',
    source: '<?php\nfunction f() {\n  return new class extends B {\n    function m() {}\n  };\n}\n',
    nodes: ['function f 2-6', 'class f\\class@anonymous 3-5', 'method f\\class@anonymous::m 4-4'],
  },
  { name: 'no closures', source: '<?php\n$f = function () {};\n$g = fn() => 1;\n', nodes: [] },
  {
    name: 'a function between HTML',
    source: '<p>\n<?php function f() {} ?>\n</p>\n',
    nodes: ['function f 2-2'],
  },
  {
    name: 'what parses around a syntax error',
    source: '<?php\nfunction good() {}\nfunction bad() { $x = (1 + ; }\nclass A { function m() {} }\n',
    nodes: ['function good 2-2', 'class A 4-4', 'method A::m 4-4'],
  },
  {
    name: 'lines that end with CRLF',
    source: '<?php\r\n// 😀\r\nfunction f()\r\n{\r\n}\r\n',
    nodes: ['function f 3-5'],
  },
]

describe('the php pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(php.of(source)).toEqual(nodes)
  })

  it('tells nodes of one name apart', () => {
    const ids = php.nodesOf('<?php if ($x) { function f() {} } else { function f() {} }').map(({ nodeId }) => nodeId)
    expect(new Set(ids).size).toBe(3)
  })

  it('cuts a node out of its bytes behind a byte order mark and emoji', () => {
    const bytes = new TextEncoder().encode('\uFEFF<?php // 😀é\r\n$x = "𝔘";\r\nfunction f() { return "😀"; }\r\n')
    const node = php.nodesOf(bytes).at(-1)
    expect(new TextDecoder().decode(bytes.subarray(node?.startByte, node?.endByte))).toBe(
      'function f() { return "😀"; }',
    )
  })
})
