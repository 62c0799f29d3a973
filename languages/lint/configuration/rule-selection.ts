import { isSelected, isUnder } from '#domain/path-rules.ts'
import { stringsOf, type Table } from './config-tree.ts'

/** Says what one step switches on and off: the narrower selector wins, and `off` wins over an equal `on`. */
type Selection = { base: readonly string[] | undefined; on: readonly string[]; off: readonly string[] }

type SelectionKeys = { base: string; on: string; off: readonly string[] }

const ruleKeys: SelectionKeys = { base: 'select', on: 'extend-select', off: ['ignore', 'extend-ignore'] }
const fixKeys: SelectionKeys = { base: 'fixable', on: 'extend-fixable', off: ['unfixable', 'extend-unfixable'] }

export const selectionKeys: readonly string[] = [ruleKeys, fixKeys].flatMap(({ base, on, off }) => [base, on, ...off])

/** Is true when a linter's table switches `code` on, by its code or a prefix, and does not switch it off. */
export function switchesOn(lint: Table, code: string): boolean {
  const on = [...stringsOf(lint['select']), ...stringsOf(lint['extend-select'])]
  return isSelected(code, on) && !isSelected(code, switchedOff(lint))
}

export function switchedOff(lint: Table): string[] {
  return [...stringsOf(lint['ignore']), ...stringsOf(lint['extend-ignore'])]
}

/**
 * Combines the rule selections of a chain of configurations, the extended ones first. Ruff resolves them one after the
 * other, so a later `E` wins over an earlier `E501`, but within one configuration the narrower selector wins. Selectors
 * that a later one overrules are therefore removed. This works because selectors are prefixes, and so form a tree.
 */
export function combinedSelection(layers: readonly Table[]): Table {
  return { ...combine(layers, ruleKeys), ...combine(layers, fixKeys) }
}

function combine(layers: readonly Table[], keys: SelectionKeys): Table {
  let sum: Selection = { base: undefined, on: [], off: [] }
  let carried: readonly string[] = []
  for (const layer of layers) {
    const own = selectionOf(layer, keys)
    const next = { ...own, off: [...own.off, ...carried] }
    sum = next.base === undefined ? onTop(sum, next) : next
    // Ruff carries what an empty `select` ignores over to the next configuration.
    carried = own.base?.length === 0 && own.on.length === 0 ? own.off : []
  }
  const [offKey = ''] = keys.off
  return {
    ...(sum.base && { [keys.base]: sum.base }),
    ...(sum.on.length > 0 && { [keys.on]: sum.on }),
    ...(sum.off.length > 0 && { [offKey]: sum.off }),
  }
}

function selectionOf(layer: Table, keys: SelectionKeys): Selection {
  return {
    base: layer[keys.base] === undefined ? undefined : stringsOf(layer[keys.base]),
    on: stringsOf(layer[keys.on]),
    off: keys.off.flatMap((key) => stringsOf(layer[key])),
  }
}

function onTop(sum: Selection, next: Selection): Selection {
  const without = (selectors: readonly string[], overruled: readonly string[]) =>
    selectors.filter((one) => !overruled.some((selector) => isUnder(one, selector)))
  return {
    base: sum.base && without(sum.base, next.off),
    on: [...without(sum.on, next.off), ...next.on],
    off: [...without(sum.off, next.on), ...next.off],
  }
}
