import type { BundleFile } from '#domain/agent-bundle.ts'

/** Where a bundle asks for what nothing does yet. A field left at its default asks for nothing. */
export function unservedFields({ grammar, limits, ...file }: BundleFile): string[][] {
  const asked: [at: string[], isAsked: boolean][] = [
    [['grammar', 'strategy'], grammar.strategy !== 'none'],
    [['grammar', 'allow_parallel_calls'], grammar.allow_parallel_calls],
    [['limits', 'context_messages'], limits.context_messages !== 40],
    [['limits', 'parallel_tools'], limits.parallel_tools !== 4],
    [['error_policy'], file.error_policy !== 'skip_downstream'],
    [['requires_context'], !file.requires_context],
  ]
  return asked.flatMap(([at, isAsked]) => (isAsked ? [at] : []))
}
