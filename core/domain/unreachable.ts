/** Ends an exhaustive switch: a new member of the union is a type error here, and a foreign value throws at run time. */
export function unreachable(value: never): never {
  throw new Error(`unexpected value: ${JSON.stringify(value)}`)
}
