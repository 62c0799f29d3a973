; As they are written, up to their block: `@media (min-width: 1px)`.
((media_statement "@media" @media.name (_) @media.name_end . (block)) @media.def
  (#set! separator " "))

((supports_statement "@supports" @at_rule.name (_) @at_rule.name_end . (block)) @at_rule.def
  (#set! separator " "))

((scope_statement "@scope" @at_rule.name ")" @at_rule.name_end . (block)) @at_rule.def
  (#set! separator " "))

((at_rule (at_keyword) @at_rule.name (_) @at_rule.name_end . (block)) @at_rule.def
  (#set! separator " "))

((at_rule (at_keyword) @at_rule.name . (block)) @at_rule.def
  (#set! separator " "))
