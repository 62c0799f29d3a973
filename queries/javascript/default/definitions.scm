; `export` belong to what they stand before: the patterns meet on one name, and the widest counts.
[
  (class_declaration name: (_) @class.name)
  (export_statement declaration: (class_declaration name: (_) @class.name))
] @class.def

; const Local = class { … }; of several declarators each is its own.
[
  (variable_declarator name: (identifier) @class.name value: (class))
  (lexical_declaration . (variable_declarator name: (identifier) @class.name value: (class)) .)
  (export_statement
    declaration: (lexical_declaration . (variable_declarator name: (identifier) @class.name value: (class)) .))
] @class.def

; module.exports = class Name { … }
(expression_statement
  (assignment_expression right: (class name: (_) @class.name))) @class.def

((export_statement "default" value: (class !name)) @class.def
  (#set! name "default"))

[
  (function_declaration name: (_) @function.name)
  (generator_function_declaration name: (_) @function.name)
  (export_statement declaration: [(function_declaration name: (_) @function.name) (generator_function_declaration name: (_) @function.name)])
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

; A call with a text and a function. The name runs over escapes and substitutions; names are joined as the runners print them.
((expression_statement
  (call_expression
    function: [
      (identifier) @_call
      (member_expression object: (identifier) @_call)
      (member_expression object: (member_expression object: (identifier) @_call))
      (call_expression function: (member_expression object: (identifier) @_call))
    ]
    arguments: (arguments
      . [
        (string . (_) @test.name .)
        (string . (_) @test.name (_) @test.name_end .)
        (template_string . (_) @test.name .)
        (template_string . (_) @test.name (_) @test.name_end .)
      ]
      [(arrow_function) (function_expression)]))) @test.def
  (#any-of? @_call "describe" "it" "test")
  (#set! separator " > "))

; const Button = memo(() => …), const Input = React.forwardRef(function Input() { … })
([
  (lexical_declaration
    . (variable_declarator
      name: (identifier) @function.name
      value: (call_expression
        function: (_) @_wrapper
        arguments: (arguments . [(arrow_function) (function_expression)]))) .)
  (export_statement
    declaration: (lexical_declaration
      . (variable_declarator
        name: (identifier) @function.name
        value: (call_expression
          function: (_) @_wrapper
          arguments: (arguments . [(arrow_function) (function_expression)]))) .))
] @function.def
  (#any-of? @_wrapper "memo" "forwardRef" "React.memo" "React.forwardRef"))
