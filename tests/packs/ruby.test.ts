import { describePack } from './describe-pack.fixture.ts'

describePack('ruby', [
  [
    'modules, classes and methods by the names Ruby gives them',
    'module Foo\n  class Bar < Base\n    def baz(a)\n      a\n    end\n\n    def self.make = new\n  end\nend\n',
    ['module Foo 1-9', 'class Foo::Bar 2-8', 'method Foo::Bar#baz 3-5', 'method Foo::Bar.make 7-7'],
  ],
  ['a method outside of any class', 'def go\nend\n', ['method go 1-2']],
  [
    'names with marks and operators',
    'class A::B\n  def ok?; end\n  def x=(v); end\n  def ==(o); end\n  def [](i); end\nend\n',
    ['class A::B 1-6', 'method A::B#ok? 2-2', 'method A::B#x= 3-3', 'method A::B#== 4-4', 'method A::B#[] 5-5'],
  ],
  [
    'methods of the class in `class << self`',
    'class A\n  class << self\n    def one; end\n    private def two; end\n  end\n  def one; end\nend\n',
    ['class A 1-7', 'method A.one 3-3', 'method A.two 4-4', 'method A#one 6-6'],
  ],
  [
    'methods of an object that is named',
    'class A\n  def A.make; end\nend\ndef A.late; end\n',
    ['class A 1-3', 'method A.make 2-2', 'method A.late 4-4'],
  ],
  [
    'a method once behind what makes it private',
    'class A\n  private def secret(x)\n    x\n  end\n  memoize def slow; end\nend\n',
    ['class A 1-6', 'method A#secret 2-4', 'method A#slow 5-5'],
  ],
  [
    'classes and modules that are assigned',
    'Point = Struct.new(:x) do\n  def len = x\nend\nOops = Class.new(StandardError)\nlocal = Class.new\n',
    ['class Point 1-3', 'method Point#len 2-2', 'class Oops 4-4'],
  ],
  [
    'a class that is opened twice',
    'class A\n  def m; end\nend\nclass A\n  def m; end\nend\n',
    ['class A 1-3', 'method A#m 2-2', 'class A 4-6', 'method A#m 5-5'],
  ],
  [
    'examples and their groups',
    "RSpec.describe Cart, 'full' do\n  context \"when empty\" do\n    it('is 0') { 1 }\n    it { is_expected.to be }\n  end\nend\nputs 'it'\n",
    ['test Cart 1-6', 'test Cart when empty 2-5', 'test Cart when empty is 0 3-3'],
  ],
  [
    'what parses around a syntax error',
    'class A\n  def good; end\nend\n\ndef bad(\n  1 +\nend\n\nclass B\n  def m; end\nend\n',
    ['class A 1-3', 'method A#good 2-2', 'class B 9-11', 'method B#m 10-10'],
  ],
])
