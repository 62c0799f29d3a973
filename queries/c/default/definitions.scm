(function_definition
  declarator: [
    (function_declarator declarator: (identifier) @function.name)
    (pointer_declarator declarator: (function_declarator declarator: (identifier) @function.name))
    (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (identifier) @function.name)))
  ]) @function.def

; int (name)(…) { … }, void (*name(…))(…) { … }
(function_definition
  declarator: (function_declarator
    declarator: (parenthesized_declarator [
      (identifier) @function.name
      (pointer_declarator declarator: (function_declarator declarator: (identifier) @function.name))
    ]))) @function.def

; Only what takes arguments: a constant is no piece of code to work on.
(preproc_function_def name: (identifier) @macro.name) @macro.def

; Only definitions with a body, not every use of `struct x`. A typedef with a body is one node: under the tag, or under
; the typedef's name when there is no tag.
[
  (struct_specifier name: (_) @struct.name body: (_))
  (type_definition type: (struct_specifier name: (_) @struct.name body: (_)))
  (type_definition type: (struct_specifier !name body: (_)) . declarator: (type_identifier) @struct.name)
] @struct.def

[
  (union_specifier name: (_) @union.name body: (_))
  (type_definition type: (union_specifier name: (_) @union.name body: (_)))
  (type_definition type: (union_specifier !name body: (_)) . declarator: (type_identifier) @union.name)
] @union.def

[
  (enum_specifier name: (_) @enum.name body: (_))
  (type_definition type: (enum_specifier name: (_) @enum.name body: (_)))
  (type_definition type: (enum_specifier !name body: (_)) . declarator: (type_identifier) @enum.name)
] @enum.def

(type_definition
  type: [
    (primitive_type)
    (sized_type_specifier)
    (type_identifier)
    (macro_type_specifier)
    (struct_specifier !body)
    (union_specifier !body)
    (enum_specifier !body)
    
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
