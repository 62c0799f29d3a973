; A call with a text and a function. The name runs over escapes and substitutions; names are joined as the runners print them.
((expression_statement
  (call_expression
    function: [
      (identifier) @_call
      (member_expression object: (identifier) @_call)
      (member_expression object: (member_expression object: (identifier) @_call))
      (call_expression function: (member_expression object: (identifier) @_call))
    ]
    arguments: (arguments
      . [
        (string . (_) @test.name .)
        (string . (_) @test.name (_) @test.name_end .)
        (template_string . (_) @test.name .)
        (template_string . (_) @test.name (_) @test.name_end .)
      ]
      [(arrow_function) (function_expression)]))) @test.def
  (#any-of? @_call "describe" "it" "test")
  (#set! separator " > "))
