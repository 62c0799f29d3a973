import type { BundleFile } from '#domain/agent-bundle.ts'

/** Where a bundle asks for what nothing does yet. A field left at its default asks for nothing. */
export function unservedFields({ model, limits, ...file }: BundleFile): string[][] {
  const asked: [at: string[], isAsked: boolean][] = [
    [['model', 'name'], model.name !== 'default'],
    [['model', 'adapter'], model.adapter !== ''],
    [['limits', 'context_messages'], limits.context_messages !== 40],
    [['limits', 'parallel_tools'], limits.parallel_tools !== 4],
    [['error_policy'], file.error_policy !== 'skip_downstream'],
    [['requires_context'], !file.requires_context],
  ]
  return asked.flatMap(([at, isAsked]) => (isAsked ? [at] : []))
}
