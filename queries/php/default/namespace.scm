((namespace_definition name: (_) @namespace.name body: (_)) @namespace.def
  (#set! separator "\\"))

; `namespace App;` holds what follows, up to the next one.
((namespace_definition name: (_) @namespace.name !body) @namespace.def
  (#set! level 1)
  (#set! separator "\\"))
