; What a file refers to; it makes no node. One kind of reference a pattern: import, call, inherits or local.
(import_statement name: (dotted_name) @import.module)
(import_statement name: (aliased_import name: (dotted_name) @import.module alias: (identifier) @import.alias))
(import_from_statement module_name: (_) @import.module name: (dotted_name) @import.name)
(import_from_statement
  module_name: (_) @import.module
  name: (aliased_import name: (dotted_name) @import.name alias: (identifier) @import.alias))
((import_from_statement module_name: (_) @import.module (wildcard_import))
  (#set! name "*"))

(call function: (identifier) @call.name)
(call function: (attribute object: (_) @call.receiver attribute: (identifier) @call.name))
(decorator (identifier) @call.name)
(decorator (attribute object: (_) @call.receiver attribute: (identifier) @call.name))

(class_definition superclasses: (argument_list [(identifier) (attribute)] @inherits.name))
(class_definition superclasses: (argument_list (subscript value: [(identifier) (attribute)] @inherits.name)))

; Names that are bound where they stand hide those of the file; what they hold says whose method is called.
(parameters (identifier) @local.name)
(parameters (_ (identifier) @local.name))
(lambda_parameters (identifier) @local.name)
(typed_parameter . (identifier) @local.name type: (type) @local.type)
(default_parameter name: (identifier) @local.name)
(typed_default_parameter name: (identifier) @local.name type: (type) @local.type)
(assignment left: (identifier) @local.name type: (type) @local.type)
(assignment left: (identifier) @local.name !type right: (_) @local.value)
(assignment left: (attribute object: (identifier) attribute: (identifier)) @local.name right: (_) @local.value)
(assignment left: (_ (identifier) @local.name))
(named_expression name: (identifier) @local.name value: (_) @local.value)
(for_statement left: (identifier) @local.name)
(for_statement left: (_ (identifier) @local.name))
(for_in_clause left: (identifier) @local.name)
(for_in_clause left: (_ (identifier) @local.name))
(as_pattern_target (identifier) @local.name)
((function_definition return_type: (type) @local.type)
  (#set! name "()"))
