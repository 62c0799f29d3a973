import type { BundleFile } from '#domain/agent-bundle.ts'

/** Where a bundle asks for what nothing does yet. A field left at its default asks for nothing. */
export function unservedFields({ model, ...file }: BundleFile): string[][] {
  const asked: [at: string[], isAsked: boolean][] = [
    [['model', 'name'], model.name !== 'default'],
    [['model', 'adapter'], model.adapter !== ''],
    [['error_policy'], file.error_policy !== 'skip_downstream'],
  ]
  return asked.flatMap(([at, isAsked]) => (isAsked ? [at] : []))
}
