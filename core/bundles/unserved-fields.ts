import type { BundleFile } from '#domain/agent-bundle.ts'

/** Where a bundle asks for what nothing does yet. A field left at its default asks for nothing. */
export function unservedFields({ error_policy: policy }: BundleFile): string[][] {
  return policy === 'skip_downstream' ? [] : [['error_policy']]
}
