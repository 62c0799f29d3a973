; A test comes first: of two patterns that meet on one name and range, the first counts.
((function_declaration name: (identifier) @test.name) @test.def
  (#match? @test.name "^(Test|Benchmark|Fuzz|Example)($|[^a-z])"))

(function_declaration name: (identifier) @function.name) @function.def
