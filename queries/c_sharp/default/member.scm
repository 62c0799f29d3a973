; With the interface it is written for, `void IShape.Draw()` is `Circle.IShape.Draw`: of the patterns that meet on one
; name the first counts.
(method_declaration
  (explicit_interface_specifier (_) @method.owner)
  name: (_) @method.name) @method.def

(method_declaration name: (_) @method.name) @method.def

(property_declaration
  (explicit_interface_specifier (_) @property.owner)
  name: (_) @property.name) @property.def

(property_declaration name: (_) @property.name) @property.def

(indexer_declaration
  (explicit_interface_specifier (_) @property.owner)
  "this" @property.name) @property.def

(indexer_declaration "this" @property.name) @property.def

(event_declaration
  (explicit_interface_specifier (_) @event.owner)
  name: (_) @event.name) @event.def

(event_declaration name: (_) @event.name) @event.def

(event_field_declaration
  (variable_declaration . type: (_) . (variable_declarator name: (_) @event.name))) @event.def

(constructor_declaration name: (_) @constructor.name) @constructor.def

; `~Circle`
(destructor_declaration
  "~" @destructor.name
  name: (_) @destructor.name_end) @destructor.def

; `operator +`
(operator_declaration
  "operator" @operator.name
  operator: _ @operator.name_end) @operator.def

; `operator int`
(conversion_operator_declaration
  "operator" @operator.name
  type: (_) @operator.name_end) @operator.def

(local_function_statement name: (_) @function.name) @function.def
