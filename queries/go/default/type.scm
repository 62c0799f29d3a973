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
