; `export` and `declare` belong to what they stand before: the patterns meet on one name, and the widest counts.
[
  (class_declaration name: (_) @class.name)
  (abstract_class_declaration name: (_) @class.name)
  (export_statement declaration: [(class_declaration name: (_) @class.name) (abstract_class_declaration name: (_) @class.name)])
  (ambient_declaration [(class_declaration name: (_) @class.name) (abstract_class_declaration name: (_) @class.name)])
  (export_statement declaration: (ambient_declaration [(class_declaration name: (_) @class.name) (abstract_class_declaration name: (_) @class.name)]))
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

(class_body [
  (method_definition name: (_) @method.name)
  (method_signature name: (_) @method.name)
  (abstract_method_signature name: (_) @method.name)
  (public_field_definition name: (_) @method.name value: [(arrow_function) (function_expression) (generator_function)])
] @method.def)

; Decorators of a method stand before it in the class body; those of a field are within it.
(class_body (decorator) @lead)

; const api = { get() { … }, post: () => … }: methods only of an object that has a name.
(variable_declarator
  name: (identifier) @method.owner
  value: [
    (object [
      (method_definition name: (_) @method.name)
      (pair key: [(property_identifier) (computed_property_name) (number)] @method.name value: [(arrow_function) (function_expression) (generator_function)])
      (pair key: (string (string_fragment) @method.name) value: [(arrow_function) (function_expression) (generator_function)])
    ] @method.def)
    (as_expression (object [
      (method_definition name: (_) @method.name)
      (pair key: [(property_identifier) (computed_property_name) (number)] @method.name value: [(arrow_function) (function_expression) (generator_function)])
      (pair key: (string (string_fragment) @method.name) value: [(arrow_function) (function_expression) (generator_function)])
    ] @method.def))
    (satisfies_expression (object [
      (method_definition name: (_) @method.name)
      (pair key: [(property_identifier) (computed_property_name) (number)] @method.name value: [(arrow_function) (function_expression) (generator_function)])
      (pair key: (string (string_fragment) @method.name) value: [(arrow_function) (function_expression) (generator_function)])
    ] @method.def))
  ])

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

[
  (interface_declaration name: (_) @interface.name)
  (export_statement declaration: (interface_declaration name: (_) @interface.name))
  (ambient_declaration (interface_declaration name: (_) @interface.name))
  (export_statement declaration: (ambient_declaration (interface_declaration name: (_) @interface.name)))
] @interface.def

[
  (type_alias_declaration name: (_) @type.name)
  (export_statement declaration: (type_alias_declaration name: (_) @type.name))
  (ambient_declaration (type_alias_declaration name: (_) @type.name))
  (export_statement declaration: (ambient_declaration (type_alias_declaration name: (_) @type.name)))
] @type.def

[
  (enum_declaration name: (_) @enum.name)
  (export_statement declaration: (enum_declaration name: (_) @enum.name))
  (ambient_declaration (enum_declaration name: (_) @enum.name))
  (export_statement declaration: (ambient_declaration (enum_declaration name: (_) @enum.name)))
] @enum.def

; namespace A.B { … }, module A { … }, declare module 'package' { … }
[
  (internal_module name: [(identifier) (nested_identifier)] @module.name)
  (module name: [(identifier) (nested_identifier)] @module.name)
  (export_statement declaration: (internal_module name: (_) @module.name))
  (export_statement declaration: (module name: (_) @module.name))
  (ambient_declaration (internal_module name: (_) @module.name))
  (ambient_declaration (module name: [(identifier) (nested_identifier)] @module.name))
  (ambient_declaration (module name: (string (string_fragment) @module.name)))
  (export_statement declaration: (ambient_declaration (internal_module name: (_) @module.name)))
  (export_statement declaration: (ambient_declaration (module name: [(identifier) (nested_identifier)] @module.name)))
] @module.def
