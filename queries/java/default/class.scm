(class_declaration name: (_) @class.name) @class.def
