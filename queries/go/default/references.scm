; What a file refers to; it makes no node. One kind of reference a pattern: import, call, inherits or local.
(import_spec !name path: (interpreted_string_literal (interpreted_string_literal_content) @import.module))
(import_spec
  name: (package_identifier) @import.alias
  path: (interpreted_string_literal (interpreted_string_literal_content) @import.module))
((import_spec name: (dot) path: (interpreted_string_literal (interpreted_string_literal_content) @import.module))
  (#set! name "*"))

(call_expression function: (identifier) @call.name)
(call_expression function: (selector_expression operand: (_) @call.receiver field: (_) @call.name))
(call_expression function: (type_instantiation_expression type: (type_identifier) @call.name))
(composite_literal type: (type_identifier) @call.name)
(composite_literal type: (generic_type type: (type_identifier) @call.name))
(composite_literal type: (qualified_type package: (_) @call.receiver name: (_) @call.name))

; Embedded types.
(type_spec type: (struct_type (field_declaration_list
  (field_declaration !name type: [(type_identifier) (qualified_type)] @inherits.name))))
(type_spec type: (struct_type (field_declaration_list
  (field_declaration !name type: (generic_type type: [(type_identifier) (qualified_type)] @inherits.name)))))
(type_spec type: (interface_type (type_elem . [(type_identifier) (qualified_type)] @inherits.name .)))

; Names that are bound where they stand hide those of the package; what they hold says whose method is called.
(parameter_declaration name: (identifier) @local.name type: (_) @local.type)
(variadic_parameter_declaration name: (identifier) @local.name)
(short_var_declaration left: (expression_list (identifier) @local.name))
(short_var_declaration left: (expression_list . (identifier) @local.name) right: (expression_list . (_) @local.value .))
(var_spec name: (identifier) @local.name type: (_) @local.type)
(var_spec name: (identifier) @local.name !type value: (expression_list . (_) @local.value .))
(range_clause left: (expression_list (identifier) @local.name))
(type_switch_statement alias: (expression_list (identifier) @local.name))
(receive_statement left: (expression_list (identifier) @local.name))
(field_declaration name: (field_identifier) @local.name type: (_) @local.type)
((function_declaration result: (_) @local.type)
  (#set! name "()"))
((method_declaration result: (_) @local.type)
  (#set! name "()"))
