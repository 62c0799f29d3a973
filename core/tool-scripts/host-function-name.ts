/** What the generated code calls the host's side of an external; in the normal form that Python gives identifiers. */
export function hostFunctionName(external: string): string {
  return `__${external.normalize('NFKC')}`
}
