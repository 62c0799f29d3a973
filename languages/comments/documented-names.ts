/** Says where the documented names are not those of a signature, in its order. One without a name is undefined there, and may have any. */
export function namesFault(
  documented: readonly string[],
  signature: readonly (string | undefined)[],
): string | undefined {
  const named = new Set(signature)
  const free = signature.filter((name) => name === undefined).length
  const unknown = documented.filter((name) => !named.has(name))
  const missing = signature.filter((name) => name !== undefined && !documented.includes(name))
  const faults = [
    ...(unknown.length > free ? [`${unknown.slice(free).join(', ')} is no parameter`] : []),
    ...(missing.length > 0 ? [`${missing.join(', ')} is missing`] : []),
    ...(unknown.length < free ? [`one parameter without a name is missing`] : []),
  ]
  if (faults.length > 0) return `its parameters are not those of the signature: ${faults.join('; ')}`
  const repeated = documented.find((name, at) => documented.indexOf(name) !== at)
  if (repeated !== undefined) return `it documents ${repeated} twice`
  const isInOrder = signature.every((name, at) =>
    name === undefined ? !named.has(documented[at]) : documented[at] === name,
  )
  const order = signature.map((name) => name ?? '(the one without a name)').join(', ')
  return isInOrder ? undefined : `its parameters are in another order than the signature has: ${order}`
}
