((module name: (_) @module.name) @module.def
  (#set! separator "::"))

((assignment
  left: [(constant) (scope_resolution)] @module.name
  right: (call receiver: (constant) @_base method: (identifier) @_new)) @module.def
  (#eq? @_base "Module")
  (#eq? @_new "new")
  (#set! separator "::"))
