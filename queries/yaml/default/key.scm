; The keys of a document's mapping and those one level below: `jobs`, `jobs.build`.
((document (block_node (block_mapping
  (block_mapping_pair
    key: (flow_node [(plain_scalar) (double_quote_scalar) (single_quote_scalar)] @key.name)) @key.def)))
  (#set! strip "^[\"'](?=.+[\"']$)|(?<=^[\"'].+)[\"']$"))

((document (block_node (block_mapping
  (block_mapping_pair
    value: (block_node (block_mapping
      (block_mapping_pair
        key: (flow_node [(plain_scalar) (double_quote_scalar) (single_quote_scalar)] @key.name)) @key.def))))))
  (#set! strip "^[\"'](?=.+[\"']$)|(?<=^[\"'].+)[\"']$"))

((document (block_node (block_mapping
  (block_mapping_pair
    value: (flow_node (flow_mapping
      (flow_pair
        key: (flow_node [(plain_scalar) (double_quote_scalar) (single_quote_scalar)] @key.name)) @key.def))))))
  (#set! strip "^[\"'](?=.+[\"']$)|(?<=^[\"'].+)[\"']$"))
