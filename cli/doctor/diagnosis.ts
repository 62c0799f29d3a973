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

export function lacking(name: string, found: string, advice: string): Diagnosis {
  return { name, state: 'warning', needed: false, found, advice }
}

export function isTolerable({ state, needed }: Diagnosis): boolean {
  return state !== 'missing' || !needed
}
