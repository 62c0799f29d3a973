((namespace_definition name: (_) @namespace.name) @namespace.def
  (#set! separator "::"))
