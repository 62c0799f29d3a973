((function_definition name: (_) @function.name) @function.def
  (#set! separator "\\"))

((method_declaration name: (_) @method.name) @method.def
  (#set! separator "::"))
