/** What the generated code calls the host's side of an external. */
export function hostFunctionName(external: string): string {
  return `__${external}`
}
