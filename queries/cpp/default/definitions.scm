((namespace_definition name: (_) @namespace.name) @namespace.def
  (#set! separator "::"))

; A template belongs to what it templates: the patterns meet on one name, and the widest counts.
([
  (class_specifier name: (_) @class.name body: (_))
  (template_declaration (class_specifier name: (_) @class.name body: (_)))
] @class.def
  (#set! separator "::"))

([
  (concept_definition name: (_) @concept.name)
  (template_declaration (concept_definition name: (_) @concept.name))
] @concept.def
  (#set! separator "::"))

((preproc_function_def name: (identifier) @macro.name) @macro.def
  (#set! separator "::"))

; Only definitions with a body, not every use of `struct x`. A typedef with a body is one node: under the tag, or under
; the typedef's name when there is no tag.
([
  (template_declaration (struct_specifier name: (_) @struct.name body: (_)))
  (struct_specifier name: (_) @struct.name body: (_))
  (type_definition type: (struct_specifier name: (_) @struct.name body: (_)))
  (type_definition type: (struct_specifier !name body: (_)) . declarator: (type_identifier) @struct.name)
] @struct.def
  (#set! separator "::"))

([
  (template_declaration (union_specifier name: (_) @union.name body: (_)))
  (union_specifier name: (_) @union.name body: (_))
  (type_definition type: (union_specifier name: (_) @union.name body: (_)))
  (type_definition type: (union_specifier !name body: (_)) . declarator: (type_identifier) @union.name)
] @union.def
  (#set! separator "::"))

([
  (enum_specifier name: (_) @enum.name body: (_))
  (type_definition type: (enum_specifier name: (_) @enum.name body: (_)))
  (type_definition type: (enum_specifier !name body: (_)) . declarator: (type_identifier) @enum.name)
] @enum.def
  (#set! separator "::"))

([
  (alias_declaration name: (_) @type.name)
  (template_declaration (alias_declaration name: (_) @type.name))
] @type.def
  (#set! separator "::"))

((type_definition
  type: [
    (primitive_type)
    (sized_type_specifier)
    (type_identifier)
    (qualified_identifier) (template_type) (dependent_type) (placeholder_type_specifier) (decltype)
    (struct_specifier !body)
    (union_specifier !body)
    (enum_specifier !body)
    (class_specifier !body)
  ]
  . declarator: [
    (type_identifier) @type.name
    (primitive_type) @type.name
    (pointer_declarator declarator: (type_identifier) @type.name)
    (pointer_declarator declarator: (pointer_declarator declarator: (type_identifier) @type.name))
    (array_declarator declarator: (type_identifier) @type.name)
    (function_declarator declarator: (type_identifier) @type.name)
    (function_declarator
      declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @type.name)))
    (pointer_declarator
      declarator: (function_declarator
        declarator: (parenthesized_declarator (pointer_declarator declarator: (type_identifier) @type.name))))
  ]) @type.def
  (#set! separator "::"))

; In a class a function is a method.
([
  (function_definition declarator: [
    (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name)
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name)))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name))
  ])
  (template_declaration (function_definition declarator: [
    (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name)
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name)))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name))
  ]))
  (template_declaration (template_declaration (function_definition declarator: [
    (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name)
    (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name)))
    (reference_declarator (function_declarator declarator: [(identifier) (field_identifier) (destructor_name) (operator_name) (template_function)] @function.name))
  ])))
] @function.def
  (#set! inside.class method)
  (#set! inside.struct method)
  (#set! inside.union method)
  (#set! separator "::"))

; operator bool() const { … }
([
  (function_definition declarator: (operator_cast) @function.name)
  (template_declaration (function_definition declarator: (operator_cast) @function.name))
] @function.def
  (#set! inside.class method)
  (#set! inside.struct method)
  (#set! inside.union method)
  (#set! separator "::"))

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
