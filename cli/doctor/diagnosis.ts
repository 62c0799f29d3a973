/** Says of one thing whether the machine has it. `missing` is what is absent or broken, which counts only where it is `needed`. */
export type Diagnosis = {
  name: string
  state: 'ok' | 'warning' | 'missing'
  needed: boolean
  found: string
  advice?: string
}

export function fine(name: string, found: string): Diagnosis {
  return { name, state: 'ok', needed: true, found }
}

/** Says what some runs need. */
export function lacking(name: string, found: string, advice: string): Diagnosis {
  return { name, state: 'warning', needed: false, found, advice }
}

/** Says what may keep a run from its end. */
export function doubtful(name: string, found: string, advice: string): Diagnosis {
  return { name, state: 'warning', needed: true, found, advice }
}

/** Says what every run needs. */
export function missing(name: string, found: string, advice: string): Diagnosis {
  return { name, state: 'missing', needed: true, found, advice }
}

export function isTolerable({ state, needed }: Diagnosis): boolean {
  return state !== 'missing' || !needed
}
