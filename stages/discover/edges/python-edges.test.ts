import { describeEdges } from './edges.fixture.ts'

describeEdges('Python', [
  [
    'modules, names, other names, and everything of a module',
    {
      'shop/__init__.py': 'from .items import Item\n',
      'shop/items.py': 'class Item:\n    pass\n\ndef price():\n    pass\n',
      'main.py':
        'import shop.items\nimport shop.items as i\nfrom shop import Item\nfrom shop.items import price as p\n\n' +
        'def run():\n    shop.items.price()\n    i.Item()\n    p()\n    Item()\n',
      'all.py': 'from shop.items import *\nprice()\n',
    },
    [
      'calls all.py -> shop/items.py#price',
      'calls main.py#run -> shop/items.py#Item',
      'calls main.py#run -> shop/items.py#price',
      'imports all.py -> shop/items.py',
      'imports main.py -> shop/__init__.py',
      'imports main.py -> shop/items.py',
      'imports main.py -> shop/items.py#Item',
      'imports main.py -> shop/items.py#price',
      'imports shop/__init__.py -> shop/items.py#Item',
    ],
  ],
  [
    'relative modules, from a src folder, and none above the top',
    {
      'src/app/__init__.py': '',
      'src/app/a.py':
        'from . import b\nfrom .b import f\nfrom ... import nothing\nfrom ....far import g\nf()\ng()\nb.f()\n',
      'src/app/b.py': 'def f(): pass\n',
      'tests/test_b.py': 'from app import b\n\ndef test_f():\n    pass\n',
    },
    [
      'calls src/app/a.py -> src/app/b.py#f',
      'imports src/app/a.py -> src/app/b.py',
      'imports src/app/a.py -> src/app/b.py#f',
      'imports tests/test_b.py -> src/app/b.py',
      'tests tests/test_b.py#test_f -> src/app/b.py#f ~',
    ],
  ],
  [
    'methods of self, of bases in other files, of super, of fields and of typed names',
    {
      'base.py': 'class Base:\n    def save(self): pass\n    def close(self): pass\n',
      'sub.py':
        'import base\nfrom base import Base\n\nclass Sub(base.Base):\n    def __init__(self):\n        self.inner = Base()\n' +
        '    def own(self): pass\n    def run(self, other: Base):\n        self.own()\n        self.save()\n        other.close()\n' +
        '    def close(self):\n        super().close()\n    def more(self):\n        self.inner.save()\n',
    },
    [
      'calls sub.py#Sub.__init__ -> base.py#Base',
      'calls sub.py#Sub.close -> base.py#Base.close',
      'calls sub.py#Sub.more -> base.py#Base.save',
      'calls sub.py#Sub.run -> base.py#Base.close',
      'calls sub.py#Sub.run -> base.py#Base.save',
      'calls sub.py#Sub.run -> sub.py#Sub.own',
      'imports sub.py -> base.py',
      'imports sub.py -> base.py#Base',
      'inherits sub.py#Sub -> base.py#Base',
    ],
  ],
  [
    'a name that is bound nearer hides that of the file',
    {
      'a.py':
        'def parse(): pass\n\ndef one(parse):\n    parse()\n\ndef two():\n    parse = object\n    parse()\n\n' +
        'def three():\n    def parse(): pass\n    parse()\n\ndef four():\n    for parse in []:\n        parse()\n',
    },
    ['calls a.py#three -> a.py#three.parse'],
  ],
  [
    'a method of something unknown only when nothing else has its name',
    {
      'a.py': 'class A:\n    def unique(self): pass\n    def shared(self): pass\n    def append(self): pass\n',
      'b.py': 'class B:\n    def shared(self): pass\n',
      'c.py': 'import os\n\ndef use(x):\n    x.unique()\n    x.shared()\n    x.append()\n    os.unique()\n',
    },
    ['calls c.py#use -> a.py#A.unique ~'],
  ],
  [
    'imports in a circle, stars in a circle, and a class that is its own base',
    {
      'a.py': 'from b import *\nfrom b import g\n\ndef f():\n    g()\n    nowhere()\n',
      'b.py':
        'from a import *\nfrom a import f\n\ndef g():\n    f()\n\nclass Loop(Loop):\n    def m(self):\n        self.none()\n',
    },
    [
      'calls a.py#f -> b.py#g',
      'calls b.py#g -> a.py#f',
      'imports a.py -> b.py',
      'imports a.py -> b.py#g',
      'imports b.py -> a.py',
      'imports b.py -> a.py#f',
    ],
  ],
  [
    'modules that stand in for one another are neither',
    {
      'p.py': 'def join(): pass\n',
      'n.py': 'def join(): pass\n',
      'a.py': 'import sys\nif sys:\n    import p as path\nelse:\n    import n as path\n\ndef f():\n    path.join()\n',
    },
    ['imports a.py -> n.py', 'imports a.py -> p.py'],
  ],
  [
    'tests by what they call, in classes too; what serves tests is not tested',
    {
      'm.py': 'def f(): pass\n',
      'test_m.py':
        'import m\n\ndef helper(): pass\n\nclass TestM:\n    def test_it(self):\n        m.f()\n        helper()\n',
    },
    [
      'calls test_m.py#TestM.test_it -> m.py#f',
      'calls test_m.py#TestM.test_it -> test_m.py#helper',
      'imports test_m.py -> m.py',
      'tests test_m.py#TestM.test_it -> m.py#f',
    ],
  ],
  [
    'what parses of a file with syntax errors',
    { 'm.py': 'def f(): pass\n', 'broken.py': 'from m import f\n\ndef g():\n    f()\n\ndef h(:\n' },
    ['calls broken.py#g -> m.py#f', 'imports broken.py -> m.py#f'],
  ],
])
