; RSpec and Minitest::Spec: an example and the group it is in, by the first argument.
((call
  method: (identifier) @_method
  arguments: (argument_list . (_) @test.name)
  block: (_)) @test.def
  (#any-of? @_method "describe" "context" "it" "specify" "example" "feature" "scenario" "test" "shared_examples" "shared_context")
  (#set! separator " ")
  (#set! strip "^[\"'](?=.+[\"']$)|(?<=^[\"'].+)[\"']$"))
