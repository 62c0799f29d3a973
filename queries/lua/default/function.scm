(function_declaration name: (identifier) @function.name) @function.def

; `function M.open()`
(function_declaration
  name: (dot_index_expression table: (_) @function.owner field: (_) @function.name)) @function.def

; `function M:close()`
((function_declaration
  name: (method_index_expression table: (_) @method.owner method: (_) @method.name)) @method.def
  (#set! separator ":"))

; `M.open = function() end`
(assignment_statement
  (variable_list . name: (identifier) @function.name .)
  (expression_list . value: (function_definition) .)) @function.def

(assignment_statement
  (variable_list . name: (dot_index_expression table: (_) @function.owner field: (_) @function.name) .)
  (expression_list . value: (function_definition) .)) @function.def

; `{ open = function() end }`
(field
  name: (identifier) @function.name
  value: (function_definition)) @function.def
