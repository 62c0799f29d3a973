/** Valid Python whose types grow in a loop: the type checker does not come to an end with it. */
export const endlessScript = `x = 1
y = 2
z = 3
while x:
  x = y or z
  y = (z, x)
  z = [x, y]
  while y:
    y = {1: x, 2: z}
    z = (y, x)
    while z:
      z = (x, y, z)
      x = z[0]
x
`
