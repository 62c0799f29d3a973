import type { BundleFile } from '#domain/agent-bundle.ts'
import { findTemplateFaults, namesIn } from './template.ts'

/** Name sections of both prompts, with a heading or empty. Those that neither prompt uses are appended to `node_context`, in this order. */
export const contextVariables = ['objective', 'feedback', 'last_error', 'earlier_results', 'related_code'] as const
export type ContextVariable = (typeof contextVariables)[number]

/** Has sections that do not depend on `requires_context`. */
const always: ReadonlySet<ContextVariable> = new Set(['objective', 'feedback'])

const promptVariables: ReadonlySet<string> = new Set([
  'node_text',
  'node_name',
  'node_kind',
  'node_start_line',
  'node_end_line',
  'file_path',
  'language',
  'qualified_name',
  'lint_faults',
  'docstring_style',
  'line_length',
  'turns',
  ...contextVariables,
])

const toolCallDirective = /\btool calls?\b|\bcall (?:a|one|the|exactly one) [\w ]*tool\b/i

type Path = readonly (string | number)[]
type Reporter = {
  fault(at: Path, inside: { line: number; column: number }, message: string): void
  warn(at: Path, message: string): void
}

/** Reports template faults of both prompts, and warns about a system prompt without what small models need. */
export function findPromptFaults(file: BundleFile, reporter: Reporter): void {
  const names = { variables: promptVariables, settings: new Set(Object.keys(file.settings)) }
  for (const key of ['system_prompt', 'node_context'] as const) {
    const at = ['initial_context', key]
    const source = file.initial_context[key]
    for (const { line, column, message } of findTemplateFaults(source, names)) {
      reporter.fault(at, { line, column }, `${key}: ${message}`)
    }
    const empty = file.requires_context ? [] : contextVariables.filter((name) => !always.has(name))
    const used = empty.filter((name) => namesIn(source).has(name))
    for (const name of used) reporter.warn(at, `${key}: ${name} stays empty, since requires_context is false`)
  }
  const at = ['initial_context', 'system_prompt']
  const prompt = file.initial_context.system_prompt
  if (!prompt.includes('<task_description>')) reporter.warn(at, 'the system prompt has no <task_description>')
  if (!toolCallDirective.test(prompt)) reporter.warn(at, 'the system prompt does not say to respond with a tool call')
}
