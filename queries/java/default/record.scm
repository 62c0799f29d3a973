(record_declaration name: (_) @record.name) @record.def
