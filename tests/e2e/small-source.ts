/** Four nodes: a file with an unused import, a function with a lint fault and no docstring, a class and its method. */
export const smallSource = {
  'README.md': '# shop\n',
  'shop/stock.py': `import os


def shelf_label(shelf, row):
    return f"shelf" + str(shelf) + "-" + str(row)


class Stock:
    """What lies on the shelves."""

    def count(self, name):
        if not name in self.items:
            return 0
        return self.items[name]
`,
}

/** As many functions as wanted, each with a lint fault and no docstring. */
export function manyFunctions(count: number): string {
  const functions = Array.from({ length: count }, (_none, at) => `def price_${at}():\n    return f"price"\n`)
  return functions.join('\n\n')
}

/** Matches a function of `manyFunctions` that still has no docstring. */
export const undocumented = /\):\n {4}return/
