[
  (function_declaration name: (_) @function.name)
  (generator_function_declaration name: (_) @function.name)
  (function_signature name: (_) @function.name)
  (export_statement declaration: [(function_declaration name: (_) @function.name) (generator_function_declaration name: (_) @function.name) (function_signature name: (_) @function.name)])
  (ambient_declaration [(function_declaration name: (_) @function.name) (generator_function_declaration name: (_) @function.name) (function_signature name: (_) @function.name)])
  (export_statement declaration: (ambient_declaration [(function_declaration name: (_) @function.name) (generator_function_declaration name: (_) @function.name) (function_signature name: (_) @function.name)]))
] @function.def

; const f = () => …; of several declarators each is its own.
[
  (variable_declarator name: (identifier) @function.name value: [(arrow_function) (function_expression) (generator_function)])
  (lexical_declaration
    . (variable_declarator name: (identifier) @function.name value: [(arrow_function) (function_expression) (generator_function)]) .)
  (variable_declaration
    . (variable_declarator name: (identifier) @function.name value: [(arrow_function) (function_expression) (generator_function)]) .)
  (export_statement
    declaration: (lexical_declaration
      . (variable_declarator name: (identifier) @function.name value: [(arrow_function) (function_expression) (generator_function)]) .))
] @function.def

((export_statement "default" value: [(arrow_function) (function_expression !name) (generator_function !name)]) @function.def
  (#set! name "default"))

; module.exports = function …
((expression_statement
  (assignment_expression left: (member_expression) @function.name right: [(arrow_function) (function_expression) (generator_function)])) @function.def
  (#eq? @function.name "module.exports"))

; exports.f = function …
((expression_statement
  (assignment_expression
    left: (member_expression object: (_) @_exports property: (_) @function.name)
    right: [(arrow_function) (function_expression) (generator_function)])) @function.def
  (#any-of? @_exports "exports" "module.exports"))
