; A test comes first: of two patterns that meet on one name and range, the first counts. Two more attributes may stand
; between: #[test], #[tokio::test], #[bench], #[rstest].
((attribute_item (attribute . (_) @_attribute))
  . (attribute_item)?
  . (attribute_item)?
  . (function_item name: (identifier) @test.name) @test.def
  (#match? @_attribute "^(.*::)?(test|bench|rstest)$")
  (#set! separator "::"))

(([
  (function_item name: (_) @function.name)
  (function_signature_item name: (_) @function.name)
]) @function.def
  (#set! inside.impl method)
  (#set! inside.trait method)
  (#set! separator "::"))
