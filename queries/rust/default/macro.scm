((macro_definition name: (_) @macro.name) @macro.def
  (#set! separator "::"))
