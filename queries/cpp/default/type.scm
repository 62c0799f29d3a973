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
