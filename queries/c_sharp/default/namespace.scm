(namespace_declaration name: (_) @namespace.name) @namespace.def

; `namespace A.B;` holds the rest of its file.
((file_scoped_namespace_declaration name: (_) @namespace.name) @namespace.def
  (#set! level 1))
