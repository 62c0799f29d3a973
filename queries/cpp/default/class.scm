; A template belongs to what it templates: the patterns meet on one name, and the widest counts.
([
  (class_specifier name: (_) @class.name body: (_))
  (template_declaration (class_specifier name: (_) @class.name body: (_)))
] @class.def
  (#set! separator "::"))
