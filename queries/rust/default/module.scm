; `mod name;` only points to a file.
((mod_item name: (_) @module.name body: (_)) @module.def
  (#set! separator "::"))
