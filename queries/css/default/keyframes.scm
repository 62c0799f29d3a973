((keyframes_statement (keyframes_name) @keyframes.name) @keyframes.def
  (#set! separator " "))
