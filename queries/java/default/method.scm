(method_declaration name: (_) @method.name) @method.def
