; Named by the first word of its info string.
((fenced_code_block (info_string (language) @code_block.name)?) @code_block.def
  (#set! name "code"))

((indented_code_block) @code_block.def
  (#set! name "code"))
