/** Changes of the order and the number of evaluations. */
export const evaluationHarms = [
  [
    'calls in another order',
    'print("{1} {0}".format(x(), y()))',
    'print(f"{y()} {x()}")',
    '"x ( )" is evaluated in another order',
  ],
  [
    'a value that is asked for before its object',
    'setattr(x(), "a", y())',
    'x().a = y()',
    '"x ( )" is evaluated in another order',
  ],
  ['attributes in another order', 'print(x.a, y.b)', 'print(y.b, x.a)', '"x . a" is evaluated in another order'],
  ['items in another order', 'x(y[0], y[1])', 'x(b=y[1], a=y[0])', '"y [ 0 ]" is evaluated in another order'],
  [
    'a choice that is asked for too late',
    'print(x() if y() else 1)',
    'print([x(), 1][not y()])',
    '"y ( )" is evaluated in another order',
  ],
  [
    'a call that is made twice',
    'print("{0} {0}".format(x()))',
    'print(f"{x()} {x()}")',
    '"x ( )" is evaluated more often',
  ],
  [
    'a call that is made once instead of twice',
    'print(x() if x() else y)',
    'print(x() or y)',
    '"x ( )" is evaluated less often',
  ],
  ['a call that is gone', 'print(x() + y())', 'print(x())', '"y ( )" is not called any more'],
  ['a call that is gone with its argument', 'print("", sep=x())', 'print()', '"x ( )" is not called any more'],
  ['a call that is gone from a message', 'assert x(), y()', 'assert x()', '"y ( )" is not called any more'],
  [
    'a call of two with the same argument',
    'print(x(y) + y.z(y))',
    'print(x(y))',
    '"y . z ( y )" is not called any more',
  ],
  [
    'calls in another order in a lambda',
    'return lambda z: x(z) + y(z)',
    'return lambda z: y(z) + x(z)',
    '"x ( z )" is evaluated in another order',
  ],
  [
    'long calls in another order',
    `print(x("${'a'.repeat(450)}"), y("${'a'.repeat(450)}"))`,
    `print(y("${'a'.repeat(450)}"), x("${'a'.repeat(450)}"))`,
    'is evaluated in another order',
  ],
  ['statements in another order', 'x()\n    y()', 'y()\n    x()', 'is evaluated in another order'],
  [
    'decorators in another order',
    '@x(1)\n    @y(2)\n    def z(): return 1',
    '@y(2)\n    @x(1)\n    def z(): return 1',
    'is evaluated in another order',
  ],
].map(([harm = '', was = '', is = '', says = '']) => {
  const [before, after] = [was, is].map((line) => `def f(x, y):\n    ${line}\n    return 1\n`)
  return { check: 'operands_kept' as const, harm, before: before ?? '', after: after ?? '', says }
})
