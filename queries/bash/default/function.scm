(function_definition name: (word) @function.name) @function.def
