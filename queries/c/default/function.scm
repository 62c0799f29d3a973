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
