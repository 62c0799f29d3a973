; The keys of the document and those one level below: `scripts`, `scripts.test`.
((document (object (pair key: (_) @key.name) @key.def))
  (#set! strip "^\"(?=.+\"$)|(?<=^\".+)\"$"))

((document (object (pair value: (object (pair key: (_) @key.name) @key.def))))
  (#set! strip "^\"(?=.+\"$)|(?<=^\".+)\"$"))
