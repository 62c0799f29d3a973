(class_declaration name: (_) @class.name) @class.def

(struct_declaration name: (_) @struct.name) @struct.def

(interface_declaration name: (_) @interface.name) @interface.def

(enum_declaration name: (_) @enum.name) @enum.def

(record_declaration name: (_) @record.name) @record.def

(delegate_declaration name: (_) @delegate.name) @delegate.def
