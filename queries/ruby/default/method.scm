; Where patterns meet on one name the first of this file counts: `Foo.make` is a method of the class, `Foo#bar` one of
; its objects.
((singleton_method object: (self) name: (_) @method.name) @method.def
  (#set! separator "."))

; `class Foo; def Foo.make`
((class
  name: (constant) @_class
  body: (body_statement
    (singleton_method object: (constant) @_object name: (_) @method.name) @method.def))
  (#eq? @_class @_object)
  (#set! separator "."))

((module
  name: (constant) @_module
  body: (body_statement
    (singleton_method object: (constant) @_object name: (_) @method.name) @method.def))
  (#eq? @_module @_object)
  (#set! separator "."))

((singleton_method object: (_) @method.owner name: (_) @method.name) @method.def
  (#set! separator "."))

((singleton_class (body_statement (method name: (_) @method.name) @method.def))
  (#set! separator "."))

; `class << self; private def make`
((singleton_class
  (body_statement (call arguments: (argument_list (method name: (_) @method.name) @method.def))))
  (#set! separator "."))

((method name: (_) @method.name) @method.def
  (#set! separator "#"))
