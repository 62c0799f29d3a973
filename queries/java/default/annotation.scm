(annotation_type_declaration name: (_) @annotation.name) @annotation.def
