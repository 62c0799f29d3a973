[
  (type_alias_declaration name: (_) @type.name)
  (export_statement declaration: (type_alias_declaration name: (_) @type.name))
  (ambient_declaration (type_alias_declaration name: (_) @type.name))
  (export_statement declaration: (ambient_declaration (type_alias_declaration name: (_) @type.name)))
] @type.def
