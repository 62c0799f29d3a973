((union_item name: (_) @union.name) @union.def
  (#set! separator "::"))
