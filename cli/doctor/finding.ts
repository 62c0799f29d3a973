/** One thing a machine has or lacks. `missing`: absent or broken, which counts only where it is `needed`. */
export type Finding = {
  name: string
  state: 'ok' | 'warning' | 'missing'
  needed: boolean
  found: string
  advice?: string
}

export function fine(name: string, found: string): Finding {
  return { name, state: 'ok', needed: true, found }
}

/** Something that is not needed, and is absent or does not work. */
export function lacking(name: string, found: string, advice: string): Finding {
  return { name, state: 'warning', needed: false, found, advice }
}

export function isTolerable({ state, needed }: Finding): boolean {
  return state !== 'missing' || !needed
}
