/**
 * Variables of both prompts that hold what is known beside the node, each a section with its heading, or empty. Those that
 * neither prompt names are put after `node_context`, in this order.
 */
export const contextVariables = ['last_error', 'earlier_results', 'related_code'] as const
export type ContextVariable = (typeof contextVariables)[number]
