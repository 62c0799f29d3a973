import { describe, expect, it } from 'vitest'
import { openOutline } from './outline.fixture.ts'

const ruby = await openOutline('ruby')

const cases: { name: string; source: string; nodes: string[] }[] = [
  {
    name: 'modules, classes and methods by the names Ruby gives them',
    source: 'module Foo\n  class Bar < Base\n    def baz(a)\n      a\n    end\n\n    def self.make = new\n  end\nend\n',
    nodes: ['module Foo 1-9', 'class Foo::Bar 2-8', 'method Foo::Bar#baz 3-5', 'method Foo::Bar.make 7-7'],
  },
  { name: 'a method outside of any class', source: 'def go\nend\n', nodes: ['method go 1-2'] },
  {
    name: 'names with marks and operators',
    source: 'class A::B\n  def ok?; end\n  def x=(v); end\n  def ==(o); end\n  def [](i); end\nend\n',
    nodes: ['class A::B 1-6', 'method A::B#ok? 2-2', 'method A::B#x= 3-3', 'method A::B#== 4-4', 'method A::B#[] 5-5'],
  },
  {
    name: 'methods of the class in `class << self`',
    source: 'class A\n  class << self\n    def one; end\n    private def two; end\n  end\n  def one; end\nend\n',
    nodes: ['class A 1-7', 'method A.one 3-3', 'method A.two 4-4', 'method A#one 6-6'],
  },
  {
    name: 'methods of an object that is named',
    source: 'class A\n  def A.make; end\nend\ndef A.late; end\n',
    nodes: ['class A 1-3', 'method A.make 2-2', 'method A.late 4-4'],
  },
  {
    name: 'a method once behind what makes it private',
    source: 'class A\n  private def secret(x)\n    x\n  end\n  memoize def slow; end\nend\n',
    nodes: ['class A 1-6', 'method A#secret 2-4', 'method A#slow 5-5'],
  },
  {
    name: 'classes and modules that are assigned',
    source: 'Point = Struct.new(:x) do\n  def len = x\nend\nOops = Class.new(StandardError)\nlocal = Class.new\n',
    nodes: ['class Point 1-3', 'method Point#len 2-2', 'class Oops 4-4'],
  },
  {
    name: 'a class that is opened twice',
    source: 'class A\n  def m; end\nend\nclass A\n  def m; end\nend\n',
    nodes: ['class A 1-3', 'method A#m 2-2', 'class A 4-6', 'method A#m 5-5'],
  },
  {
    name: 'examples and their groups',
    source:
      "RSpec.describe Cart, 'full' do\n  context \"when empty\" do\n    it('is 0') { 1 }\n    it { is_expected.to be }\n  end\nend\nputs 'it'\n",
    nodes: ['test Cart 1-6', 'test Cart when empty 2-5', 'test Cart when empty is 0 3-3'],
  },
  {
    name: 'what parses around a syntax error',
    source: 'class A\n  def good; end\nend\n\ndef bad(\n  1 +\nend\n\nclass B\n  def m; end\nend\n',
    nodes: ['class A 1-3', 'method A#good 2-2', 'class B 9-11', 'method B#m 10-10'],
  },
  {
    name: 'lines that end with CRLF',
    source: '# 😀\r\nclass A\r\n  def m\r\n  end\r\nend\r\n',
    nodes: ['class A 2-5', 'method A#m 3-4'],
  },
]

describe('the ruby pack', () => {
  it.each(cases)('finds $name', ({ source, nodes }) => {
    expect(ruby.of(source)).toEqual(nodes)
  })

  it('tells methods of one name apart', () => {
    const ids = ruby.nodesOf('class A\n  def m; end\n  def m; end\nend\n').map(({ nodeId }) => nodeId)
    expect(new Set(ids).size).toBe(4)
  })

  it('cuts a method out of its bytes behind emoji', () => {
    const bytes = new TextEncoder().encode('\uFEFF# 😀é\r\nX = "𝔘"\r\ndef m = "😀"\r\n')
    const node = ruby.nodesOf(bytes).find(({ kind }) => kind === 'method')
    expect(new TextDecoder().decode(bytes.subarray(node?.startByte, node?.endByte))).toBe('def m = "😀"')
  })
})
