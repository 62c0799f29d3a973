((script_element) @script.def
  (#set! name "script"))
