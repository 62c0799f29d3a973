import type { ExternalDeclaration } from './script-declarations.ts'
import { parseScript } from './parse-script.ts'

export type ExternalSignature = Pick<ExternalDeclaration, 'name' | 'parameters' | 'returns' | 'returnsSchema'>

/** The externals that a tool script may declare, as Python signatures (E013). */
export const externalSignatures = {
  read_file: '(path: str, start_line: int | None = None, end_line: int | None = None) -> str',
  read_files: '(paths: list[str]) -> dict[str, str]',
  file_exists: '(path: str) -> bool',
  list_dir: '(path: str = "") -> list[str]',
  find_files: '(pattern: str) -> list[str]',
  search_files: '(text: str, paths: str = "", regex: bool = False) -> list[dict[str, Any]]',
  write_file: '(path: str, content: str, executable: bool | None = None) -> dict[str, Any]',
  write_files: '(files: dict[str, str]) -> dict[str, Any]',
  delete_file: '(path: str) -> dict[str, Any]',
  rename_file: '(path: str, new_path: str) -> dict[str, Any]',
  run_linter: '() -> dict[str, Any]',
  apply_lint_fix: '(code: str | None = None) -> dict[str, Any]',
  edit_node: '(text: str, start_line: int | None = None, end_line: int | None = None) -> dict[str, Any]',
  describe_definition: '() -> dict[str, Any]',
  insert_docstring: '(docstring: str, style: str = "auto") -> dict[str, Any]',
  describe_parameters: '(format: str = "auto") -> dict[str, Any]',
  write_samples: '(valid: list[dict[str, Any]], invalid: list[dict[str, Any]], format: str = "auto") -> dict[str, Any]',
  run_command: '(command: list[str], timeout_s: float | None = None) -> dict[str, Any]',
  run_tests: '(paths: list[str] = [], runner: str = "auto") -> dict[str, Any]',
  describe_tests: '() -> dict[str, Any]',
  run_snippet: '(code: str) -> dict[str, Any]',
  write_tests: '(text: str) -> dict[str, Any]',
  related_nodes: '(path: str, line: int) -> dict[str, Any]',
  report_finding:
    '(claim: str, path: str, line: int, confidence: float, end_line: int | None = None, severity: str = "warning", rule: str | None = None, evidence: list[str] | None = None) -> dict[str, Any]',
  report_learning: '(insight: str, confidence: float, evidence: list[str] | None = None) -> dict[str, Any]',
  report_escalation:
    '(kind: str, urgency: str, rationale: str, affected: list[str] | None = None, evidence: list[str] | None = None) -> dict[str, Any]',
  report_artifact:
    '(name: str, text: str | None = None, path: str | None = None, media_type: str = "text/plain") -> dict[str, Any]',
  report_progress: '(action: str, reasoning_summary: str) -> None',
  ask_user: '(question: str, choices: list[str] | None = None) -> str',
  log: '(message: str) -> None',
  /** Serves only a lone script of this name: in a bundle, the builtin tool submits. */
  submit_result:
    '(status: str, summary: str, changed_files: list[str] = [], details: dict[str, Any] = {}, error: str | None = None) -> dict[str, Any]',
} as const

export async function readKnownExternals(): Promise<ReadonlyMap<string, ExternalSignature>> {
  const known = Object.entries(externalSignatures)
  return readSignatures(known.map(([name, signature]) => `@external\nasync def ${name}${signature}: ...\n`).join(''))
}

export async function readSignatures(source: string): Promise<ReadonlyMap<string, ExternalSignature>> {
  const { declarations, faults } = await parseScript(source)
  const [fault] = faults
  if (fault !== undefined) throw new Error(`signatures, line ${fault.line}: ${fault.message}`)
  return new Map(declarations.externals.map((external) => [external.name, external]))
}

/** Says how a declared external differs from the known one; undefined when the worker can answer every call that the declaration allows. */
export function signatureFault(declared: ExternalSignature, known: ExternalSignature): string | undefined {
  for (const [index, parameter] of declared.parameters.entries()) {
    const expected = known.parameters[index]
    if (expected === undefined) return `has an unknown parameter ${parameter.name}`
    if (expected.name !== parameter.name) return `has the parameter ${parameter.name} in place of ${expected.name}`
    if (!isSame(parameter.schema, expected.schema))
      return `takes ${parameter.name}: ${parameter.type} instead of ${expected.type}`
    if ('default' in parameter && !('default' in expected))
      return `has a default for ${parameter.name}, which is required`
  }
  const missing = known.parameters.slice(declared.parameters.length).find((parameter) => !('default' in parameter))
  if (missing !== undefined) return `lacks the parameter ${missing.name}: ${missing.type}`
  if (!isSame(declared.returnsSchema, known.returnsSchema))
    return `returns ${declared.returns} instead of ${known.returns}`
  return undefined
}

function isSame(left: unknown, right: unknown): boolean {
  const texts = [JSON.stringify(left), JSON.stringify(right)]
  return texts[0] === texts[1] || texts.includes('{}')
}
