((enum_item name: (_) @enum.name) @enum.def
  (#set! separator "::"))
