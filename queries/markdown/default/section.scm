; A heading is a section: it goes on over its body and the sections of a deeper level. The grammar's own sections know
; nothing of underlined headings, so the levels are said here. A heading of no text is called `section`.
((atx_heading (atx_h1_marker) heading_content: (_)? @section.name) @section.def
  (#set! level 1) (#set! name "section") (#set! strip "(^|\\s+)#+\\s*$"))
((setext_heading heading_content: (_) @section.name (setext_h1_underline)) @section.def
  (#set! level 1))
((atx_heading (atx_h2_marker) heading_content: (_)? @section.name) @section.def
  (#set! level 2) (#set! name "section") (#set! strip "(^|\\s+)#+\\s*$"))
((setext_heading heading_content: (_) @section.name (setext_h2_underline)) @section.def
  (#set! level 2))
((atx_heading (atx_h3_marker) heading_content: (_)? @section.name) @section.def
  (#set! level 3) (#set! name "section") (#set! strip "(^|\\s+)#+\\s*$"))
((atx_heading (atx_h4_marker) heading_content: (_)? @section.name) @section.def
  (#set! level 4) (#set! name "section") (#set! strip "(^|\\s+)#+\\s*$"))
((atx_heading (atx_h5_marker) heading_content: (_)? @section.name) @section.def
  (#set! level 5) (#set! name "section") (#set! strip "(^|\\s+)#+\\s*$"))
((atx_heading (atx_h6_marker) heading_content: (_)? @section.name) @section.def
  (#set! level 6) (#set! name "section") (#set! strip "(^|\\s+)#+\\s*$"))
