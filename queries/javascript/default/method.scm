(class_body [
  (method_definition name: (_) @method.name)
  (field_definition property: (_) @method.name value: [(arrow_function) (function_expression) (generator_function)])
] @method.def)

; const api = { get() { … }, post: () => … }: methods only of an object that has a name.
(variable_declarator
  name: (identifier) @method.owner
  value: (object [
    (method_definition name: (_) @method.name)
    (pair key: [(property_identifier) (computed_property_name) (number)] @method.name value: [(arrow_function) (function_expression) (generator_function)])
    (pair key: (string (string_fragment) @method.name) value: [(arrow_function) (function_expression) (generator_function)])
  ] @method.def))

; Server.prototype.run = function …
((expression_statement
  (assignment_expression
    left: (member_expression
      object: (member_expression object: (_) @method.owner property: (_) @_prototype)
      property: (_) @method.name)
    right: [(arrow_function) (function_expression) (generator_function)])) @method.def
  (#eq? @_prototype "prototype"))

; app.use = function …
((expression_statement
  (assignment_expression
    left: (member_expression object: (identifier) @method.owner property: (_) @method.name)
    right: [(arrow_function) (function_expression) (generator_function)])) @method.def
  (#not-any-of? @method.owner "exports" "module"))

; this.run = function …
(expression_statement
  (assignment_expression
    left: (member_expression object: (this) property: (_) @method.name)
    right: [(arrow_function) (function_expression) (generator_function)])) @method.def
