; A test comes first: of two patterns that meet on one name and range, the first counts.
((function_declaration name: (identifier) @test.name) @test.def
  (#match? @test.name "^(Test|Benchmark|Fuzz|Example)($|[^a-z])"))

(function_declaration name: (identifier) @function.name) @function.def

; The receiver's type without pointer and type parameters owns the method.
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @method.owner
        (generic_type type: (type_identifier) @method.owner)
        (pointer_type (type_identifier) @method.owner)
        (pointer_type (generic_type type: (type_identifier) @method.owner))
      ]))
  name: (_) @method.name) @method.def

; A declaration of one type is its node; of a group each type is its own. What is neither struct nor interface is a
; type: all patterns meet on one name, and at equal ranges the first counts.
[
  (type_spec name: (_) @struct.name type: (struct_type))
  (type_declaration . (type_spec name: (_) @struct.name type: (struct_type)) .)
] @struct.def

[
  (type_spec name: (_) @interface.name type: (interface_type))
  (type_declaration . (type_spec name: (_) @interface.name type: (interface_type)) .)
] @interface.def

[
  (type_spec name: (_) @type.name)
  (type_declaration . (type_spec name: (_) @type.name) .)
] @type.def

[
  (type_alias name: (_) @type.name)
  (type_declaration . (type_alias name: (_) @type.name) .)
] @type.def
