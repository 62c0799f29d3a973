(class_declaration name: (_) @class.name) @class.def

(interface_declaration name: (_) @interface.name) @interface.def

(enum_declaration name: (_) @enum.name) @enum.def

(record_declaration name: (_) @record.name) @record.def

(annotation_type_declaration name: (_) @annotation.name) @annotation.def

(method_declaration name: (_) @method.name) @method.def

(constructor_declaration name: (_) @constructor.name) @constructor.def

; The one of a record that leaves its parameters out.
(compact_constructor_declaration name: (_) @constructor.name) @constructor.def
