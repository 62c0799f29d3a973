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
