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
(class_heritage [(identifier) (member_expression)] @inherits.name)
(formal_parameters (identifier) @local.name)
(variable_declarator name: (identifier) @local.name value: (_)? @local.value)
(field_definition property: (_) @local.name value: (_) @local.value)
(jsx_opening_element name: (identifier) @call.name)
(jsx_self_closing_element name: (identifier) @call.name)
