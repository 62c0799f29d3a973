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
