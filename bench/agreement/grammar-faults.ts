/** Files of the standard library that the grammar reads otherwise than Python does: path → the construct it fails on. */
export const grammarFaults: Readonly<Record<string, string>> = {
  'test/test_compile.py':
    'within brackets, a line that ends in the dot of an attribute and goes on less indented than its block ' +
    '(`(bar.⏎baz)`): tree-sitter-python ends the block there, so what follows is no longer in its class',
}
