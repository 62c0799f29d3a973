/**
 * What was found of one thing a machine has or lacks. `missing` is not there or does not work; only what is `needed`
 * counts then. `advice`: what to do, as a command where there is one.
 */
export type Finding = {
  name: string
  state: 'ok' | 'warning' | 'missing'
  needed: boolean
  found: string
  advice?: string
}

/** A finding with nothing to do about it. */
export function fine(name: string, found: string): Finding {
  return { name, state: 'ok', needed: true, found }
}

/** Whether a stack can work on this machine in spite of `finding`. */
export function isTolerable({ state, needed }: Finding): boolean {
  return state !== 'missing' || !needed
}
