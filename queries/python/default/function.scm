; `inside.class`: with a class as its nearest enclosing definition, a function is a method and nothing else.
((function_definition
  name: (identifier) @function.name) @function.def
  (#set! inside.class method))

((decorated_definition
  definition: (function_definition
    name: (identifier) @function.name)) @function.def
  (#set! inside.class method))
