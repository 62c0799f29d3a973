(class_definition
  name: (identifier) @class.name) @class.def

; The decorators belong to the class: both patterns meet on one name, and the wider one counts.
(decorated_definition
  definition: (class_definition
    name: (identifier) @class.name)) @class.def
