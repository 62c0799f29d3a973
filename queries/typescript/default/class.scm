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
