((type_item name: (_) @type.name) @type.def
  (#set! separator "::"))
