; Outer attributes and doc comments stand before their item in the tree; the language counts both as attributes of it.
(attribute_item) @lead
(line_comment outer: (_)) @lead
(block_comment outer: (_)) @lead
