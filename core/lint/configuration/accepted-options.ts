import { tableAt, type Table } from './config-tree.ts'

/** What Ruff finds wrong with options; undefined when it takes them. */
export type RefusalOf = (options: Record<string, unknown>) => Promise<string | undefined>

export type AcceptedOptions = {
  options: Record<string, unknown>
  /** What was left out: the key with its tables, the value if it is one of several, and Ruff's words. */
  refused: { key: string; value: string | undefined; why: string }[]
}

/** Whether names of rules and rules in preview are taken depends on these, so they come first. */
const first = ['preview', 'explicit-preview-rules']

/**
 * As much of `options` as Ruff takes: whole tables where it can, else their entries, and of lists each element. One
 * rule that Ruff has removed costs nothing but itself.
 */
export async function acceptedOptions(
  options: Record<string, unknown>,
  refusalOf: RefusalOf,
): Promise<AcceptedOptions> {
  if ((await refusalOf(options)) === undefined) return { options, refused: [] }
  const refused: AcceptedOptions['refused'] = []

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

  /** Halves the list until the elements that are refused stand alone. */
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
    // A list that is empty now was not empty before: an empty `select` still means that nothing else is on.
    const kept = withValue(accepted, keys, await acceptedElements(accepted, keys, elements))
    return (await refusalOf(kept)) === undefined ? kept : accepted
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
