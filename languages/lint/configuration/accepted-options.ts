import { tableAt, type Table } from './config-tree.ts'

export type RefusalOf = (options: Readonly<Record<string, unknown>>) => Promise<string | undefined>

/** These decide whether rule names and preview rules are accepted, so they are added first. */
const first = ['preview', 'explicit-preview-rules']

/** Returns as much of `options` as Ruff accepts: whole tables, else their entries, and of lists each element. */
export async function acceptedOptions(options: Record<string, unknown>, refusalOf: RefusalOf) {
  if ((await refusalOf(options)) === undefined) return { options, refused: [] }
  /** Lists what was left out: the key with its tables, the value if it is one of several, and Ruff's reason. */
  const refused: { key: string; value: string | undefined; why: string }[] = []

  async function add(accepted: Record<string, unknown>, keys: readonly string[], value: unknown) {
    const whole = withValue(accepted, keys, value)
    const why = await refusalOf(whole)
    if (why === undefined) return whole
    const table = tableAt(value)
    if (table !== undefined) return addEntries(accepted, keys, table)
    if (Array.isArray(value)) return addElements(accepted, keys, value)
    refused.push({ key: keys.join('.'), value: undefined, why })
    return accepted
  }

  async function addEntries(accepted: Record<string, unknown>, keys: readonly string[], table: Table) {
    let sum = accepted
    for (const [key, value] of inOrder(table)) sum = await add(sum, [...keys, key], value)
    return sum
  }

  /** Halves the list until each refused element is alone. */
  async function acceptedElements(
    accepted: Record<string, unknown>,
    keys: readonly string[],
    elements: readonly unknown[],
  ) {
    const why = await refusalOf(withValue(accepted, keys, elements))
    if (why === undefined) return elements
    if (elements.length === 1) {
      refused.push({ key: keys.join('.'), value: String(elements[0]), why })
      return []
    }
    const half = Math.ceil(elements.length / 2)
    const left: readonly unknown[] = await acceptedElements(accepted, keys, elements.slice(0, half))
    const right: readonly unknown[] = await acceptedElements(accepted, keys, elements.slice(half))
    return [...left, ...right]
  }

  async function addElements(accepted: Record<string, unknown>, keys: readonly string[], elements: readonly unknown[]) {
    // A list stays when all its elements are refused: an empty `select` still means that nothing else is on.
    const added = withValue(accepted, keys, await acceptedElements(accepted, keys, elements))
    return (await refusalOf(added)) === undefined ? added : accepted
  }

  return { options: await addEntries({}, [], options), refused }
}

function inOrder(table: Table): [string, unknown][] {
  const rank = (key: string) => (first.includes(key) ? 0 : 1)
  return Object.entries(table).toSorted(([a], [b]) => rank(a) - rank(b))
}

function withValue(options: Record<string, unknown>, keys: readonly string[], value: unknown): Record<string, unknown> {
  const [key, ...rest] = keys
  if (key === undefined) return options
  return { ...options, [key]: rest.length === 0 ? value : withValue({ ...tableAt(options[key]) }, rest, value) }
}
