import type { BundleFile } from '#domain/agent-bundle.ts'

/** Where a bundle asks for what nothing does yet. A field left at its default asks for nothing. */
export function unservedFields({ ...file }: BundleFile): string[][] {
  const asked: [at: string[], isAsked: boolean][] = [[['error_policy'], file.error_policy !== 'skip_downstream']]
  return asked.flatMap(([at, isAsked]) => (isAsked ? [at] : []))
}
