([
  (concept_definition name: (_) @concept.name)
  (template_declaration (concept_definition name: (_) @concept.name))
] @concept.def
  (#set! separator "::"))
