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
