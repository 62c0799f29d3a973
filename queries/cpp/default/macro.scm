((preproc_function_def name: (identifier) @macro.name) @macro.def
  (#set! separator "::"))
