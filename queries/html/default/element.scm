; Elements that have an id, in quotation marks or not.
((element
  (start_tag (attribute (attribute_name) @_attribute (quoted_attribute_value (attribute_value) @element.name)))) @element.def
  (#any-of? @_attribute "id" "ID"))

((element
  (start_tag (attribute (attribute_name) @_attribute (attribute_value) @element.name))) @element.def
  (#any-of? @_attribute "id" "ID"))

((element
  (self_closing_tag (attribute (attribute_name) @_attribute (quoted_attribute_value (attribute_value) @element.name)))) @element.def
  (#any-of? @_attribute "id" "ID"))
