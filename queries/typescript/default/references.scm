; What a file refers to; it makes no node. One kind of reference a pattern: import, call, inherits or local.
(import_statement "import" . source: (string (string_fragment) @import.module))
((import_statement (import_clause (identifier) @import.alias) source: (string (string_fragment) @import.module))
  (#set! name "default"))
(import_statement
  (import_clause (namespace_import (identifier) @import.alias))
  source: (string (string_fragment) @import.module))
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @import.name !alias)))
  source: (string (string_fragment) @import.module))
(import_statement
  (import_clause (named_imports (import_specifier name: (_) @import.name alias: (_) @import.alias)))
  source: (string (string_fragment) @import.module))

(export_statement (export_clause (export_specifier name: (_) @import.name !alias)) source: (string (string_fragment) @import.module))
(export_statement
  (export_clause (export_specifier name: (_) @import.name alias: (_) @import.alias))
  source: (string (string_fragment) @import.module))
((export_statement "*" source: (string (string_fragment) @import.module))
  (#set! name "*"))
(export_statement (namespace_export (_) @import.alias) source: (string (string_fragment) @import.module))
; What a file exports under another name is, from outside, its own import of that name.
(export_statement (export_clause (export_specifier name: (_) @import.name alias: (_) @import.alias)) !source)
((export_statement "default" value: (identifier) @import.name)
  (#set! alias "default"))
((export_statement "default" declaration: (_ name: (_) @import.name))
  (#set! alias "default"))

(variable_declarator
  name: (identifier) @import.alias
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string (string_fragment) @import.module) .))
  (#eq? @_require "require"))
(variable_declarator
  name: (object_pattern (shorthand_property_identifier_pattern) @import.name)
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string (string_fragment) @import.module) .))
  (#eq? @_require "require"))
(variable_declarator
  name: (object_pattern (pair_pattern key: (property_identifier) @import.name value: (identifier) @import.alias))
  value: (call_expression
    function: (identifier) @_require
    arguments: (arguments . (string (string_fragment) @import.module) .))
  (#eq? @_require "require"))
(call_expression function: (import) arguments: (arguments . (string (string_fragment) @import.module)))

(call_expression function: (identifier) @call.name)
(call_expression function: (member_expression object: (_) @call.receiver property: (property_identifier) @call.name))
(call_expression
  function: (member_expression object: (_) @call.receiver property: (private_property_identifier) @call.name))
(new_expression constructor: (identifier) @call.name)
(new_expression constructor: (member_expression object: (_) @call.receiver property: (_) @call.name))
(decorator (identifier) @call.name)

; Names that are bound where they stand hide those of the file; what they hold says whose method is called.
(arrow_function parameter: (identifier) @local.name)
(array_pattern (identifier) @local.name)
(shorthand_property_identifier_pattern) @local.name
(pair_pattern value: (identifier) @local.name)
(assignment_pattern left: (identifier) @local.name)
(rest_pattern (identifier) @local.name)
(catch_clause parameter: (identifier) @local.name)
(for_in_statement left: (identifier) @local.name)
(assignment_expression
  left: (member_expression object: (this) property: (_)) @local.name
  right: (_) @local.value)
(import_statement (import_require_clause (identifier) @import.alias source: (string (string_fragment) @import.module)))
(extends_clause value: [(identifier) (member_expression)] @inherits.name)
(implements_clause [(type_identifier) (nested_type_identifier)] @inherits.name)
(implements_clause (generic_type name: (_) @inherits.name))
(extends_type_clause type: [(type_identifier) (nested_type_identifier)] @inherits.name)
(extends_type_clause type: (generic_type name: (_) @inherits.name))

(required_parameter pattern: (identifier) @local.name type: (type_annotation (_) @local.type)? @_type)
(optional_parameter pattern: (identifier) @local.name type: (type_annotation (_) @local.type)? @_type)
(variable_declarator name: (identifier) @local.name !type value: (_)? @local.value)
(variable_declarator name: (identifier) @local.name type: (type_annotation (_) @local.type))
(public_field_definition name: (_) @local.name type: (type_annotation (_) @local.type))
(public_field_definition name: (_) @local.name !type value: (_) @local.value)
((function_declaration return_type: (type_annotation (_) @local.type))
  (#set! name "()"))
((method_definition return_type: (type_annotation (_) @local.type))
  (#set! name "()"))
