; const Button = memo(() => …), const Input = React.forwardRef(function Input() { … })
([
  (lexical_declaration
    . (variable_declarator
      name: (identifier) @function.name
      value: (call_expression
        function: (_) @_wrapper
        arguments: (arguments . [(arrow_function) (function_expression)]))) .)
  (export_statement
    declaration: (lexical_declaration
      . (variable_declarator
        name: (identifier) @function.name
        value: (call_expression
          function: (_) @_wrapper
          arguments: (arguments . [(arrow_function) (function_expression)]))) .))
] @function.def
  (#any-of? @_wrapper "memo" "forwardRef" "React.memo" "React.forwardRef"))
