((struct_item name: (_) @struct.name) @struct.def
  (#set! separator "::"))
