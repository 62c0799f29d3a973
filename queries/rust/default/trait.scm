((trait_item name: (_) @trait.name) @trait.def
  (#set! separator "::"))
