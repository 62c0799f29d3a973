; Its name as it is written: a table of a table, `[tool.x]`, need not lie behind `[tool]`.
(table [(bare_key) (quoted_key) (dotted_key)] @table.name) @table.def

(table_array_element [(bare_key) (quoted_key) (dotted_key)] @array_table.name) @array_table.def
