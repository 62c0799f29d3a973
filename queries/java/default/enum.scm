(enum_declaration name: (_) @enum.name) @enum.def
