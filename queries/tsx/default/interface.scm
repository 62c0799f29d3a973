[
  (interface_declaration name: (_) @interface.name)
  (export_statement declaration: (interface_declaration name: (_) @interface.name))
  (ambient_declaration (interface_declaration name: (_) @interface.name))
  (export_statement declaration: (ambient_declaration (interface_declaration name: (_) @interface.name)))
] @interface.def
