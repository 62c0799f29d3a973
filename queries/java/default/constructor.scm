(constructor_declaration name: (_) @constructor.name) @constructor.def

; The one of a record that leaves its parameters out.
(compact_constructor_declaration name: (_) @constructor.name) @constructor.def
