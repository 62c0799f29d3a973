(interface_declaration name: (_) @interface.name) @interface.def
