((pipe_table) @table.def
  (#set! name "table"))
