((class name: (_) @class.name) @class.def
  (#set! separator "::"))

; `Point = Struct.new(:x) do … end`
((assignment
  left: [(constant) (scope_resolution)] @class.name
  right: (call receiver: (constant) @_base method: (identifier) @_new)) @class.def
  (#any-of? @_base "Class" "Struct")
  (#eq? @_new "new")
  (#set! separator "::"))

((assignment
  left: [(constant) (scope_resolution)] @class.name
  right: (call receiver: (constant) @_base method: (identifier) @_define)) @class.def
  (#eq? @_base "Data")
  (#eq? @_define "define")
  (#set! separator "::"))
