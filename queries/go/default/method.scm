; The receiver's type without pointer and type parameters owns the method.
(method_declaration
  receiver: (parameter_list
    (parameter_declaration
      type: [
        (type_identifier) @method.owner
        (generic_type type: (type_identifier) @method.owner)
        (pointer_type (type_identifier) @method.owner)
        (pointer_type (generic_type type: (type_identifier) @method.owner))
      ]))
  name: (_) @method.name) @method.def
