((style_element) @style.def
  (#set! name "style"))
