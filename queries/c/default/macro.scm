; Only what takes arguments: a constant is no piece of code to work on.
(preproc_function_def name: (identifier) @macro.name) @macro.def
