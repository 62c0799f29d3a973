[
  (enum_declaration name: (_) @enum.name)
  (export_statement declaration: (enum_declaration name: (_) @enum.name))
  (ambient_declaration (enum_declaration name: (_) @enum.name))
  (export_statement declaration: (ambient_declaration (enum_declaration name: (_) @enum.name)))
] @enum.def
