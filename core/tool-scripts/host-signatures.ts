/**
 * The host functions a tool script may declare, as Python stubs: `remora check` compares a script's declarations with
 * them (E013), and authors read them here.
 */
export const hostSignatures = {
  read_file: '(path: str, start_line: int | None = None, end_line: int | None = None) -> str',
  write_file: '(path: str, content: str) -> dict[str, Any]',
  file_exists: '(path: str) -> bool',
  list_dir: '(path: str = "") -> list[str]',
  run_linter: '() -> dict[str, Any]',
  apply_lint_fix: '(code: str | None = None) -> dict[str, Any]',
  edit_node: '(text: str, start_line: int | None = None, end_line: int | None = None) -> dict[str, Any]',
  describe_definition: '() -> dict[str, Any]',
  insert_docstring: '(docstring: str, style: str = "auto") -> dict[str, Any]',
  ask_user: '(question: str, choices: list[str] | None = None) -> str',
  log: '(message: str) -> None',
  /** For a script of this name alone, on its own: in a bundle the builtin tool submits. */
  submit_result:
    '(status: str, summary: str, changed_files: list[str] = [], details: dict[str, Any] = {}, error: str | None = None) -> dict[str, Any]',
} as const
