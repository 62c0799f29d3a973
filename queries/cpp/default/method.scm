; `void A::B::run() { … }` is a method of A::B. A function of a namespace that is defined so cannot be told from one.
; Of a longer path the owner is what stands before the name.
([
  (function_definition declarator: [
    (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ])
    (pointer_declarator declarator: (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ]))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ])))
    (reference_declarator (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ]))
  ])
  (template_declaration (function_definition declarator: [
    (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ])
    (pointer_declarator declarator: (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ]))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ])))
    (reference_declarator (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ]))
  ]))
  (template_declaration (template_declaration (function_definition declarator: [
    (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ])
    (pointer_declarator declarator: (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ]))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ])))
    (reference_declarator (function_declarator declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ]))
  ])))
] @method.def
  (#set! separator "::"))

; A::operator bool() const { … }
([
  (function_definition declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ])
  (template_declaration (function_definition declarator: [
    (qualified_identifier
      scope: [(namespace_identifier) @method.owner (template_type name: (_) @method.owner)]
      name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)
    (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name))) @method.owner
    (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: (qualified_identifier name: [(identifier) (destructor_name) (operator_name) (operator_cast) (template_function)] @method.name)))) @method.owner
  ]))
] @method.def
  (#set! separator "::"))
