((rule_set (selectors) @rule.name) @rule.def
  (#set! separator " "))
