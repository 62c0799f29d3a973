((class_declaration name: (_) @class.name) @class.def
  (#set! separator "\\"))

((anonymous_class) @class.def
  (#set! name "class@anonymous")
  (#set! separator "\\"))

((interface_declaration name: (_) @interface.name) @interface.def
  (#set! separator "\\"))

((trait_declaration name: (_) @trait.name) @trait.def
  (#set! separator "\\"))

((enum_declaration name: (_) @enum.name) @enum.def
  (#set! separator "\\"))
