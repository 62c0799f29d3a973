; Outer attributes and doc comments stand before their item in the tree; the language counts both as attributes of it.
(attribute_item) @lead
(line_comment outer: (_)) @lead
(block_comment outer: (_)) @lead

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

; An impl of a type's own is called as the type's path is written: without type arguments.
((impl_item
  !trait
  type: [
    (generic_type type: (_) @impl.name)
    (type_identifier) @impl.name
    (scoped_type_identifier) @impl.name
    (primitive_type) @impl.name
    (reference_type) @impl.name
    (pointer_type) @impl.name
    (array_type) @impl.name
    (tuple_type) @impl.name
    (dynamic_type) @impl.name
  ]) @impl.def
  (#set! separator "::"))

; An impl of a trait is called as it is written, since only type arguments tell some of them apart: From<A> for B<C>.
((impl_item trait: (_) @impl.name type: (_) @impl.name_end) @impl.def
  (#set! separator "::"))

((struct_item name: (_) @struct.name) @struct.def
  (#set! separator "::"))

((enum_item name: (_) @enum.name) @enum.def
  (#set! separator "::"))

((union_item name: (_) @union.name) @union.def
  (#set! separator "::"))

((trait_item name: (_) @trait.name) @trait.def
  (#set! separator "::"))

((type_item name: (_) @type.name) @type.def
  (#set! separator "::"))

((macro_definition name: (_) @macro.name) @macro.def
  (#set! separator "::"))

; `mod name;` only points to a file.
((mod_item name: (_) @module.name body: (_)) @module.def
  (#set! separator "::"))
