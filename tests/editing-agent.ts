type Replacement = {
  /** More lines of bundle.yaml. */
  yaml?: string
  kinds?: string
  /** The checks of its changes. */
  evidence?: string
  /** Its tool runs this command before it writes. */
  command?: readonly [string, ...string[]]
  from: string
  to: string
}

/**
 * The files of a bundle whose only tool replaces one text of its node by another, wherever it is in it. The rehearsal model calls it
 * once and submits.
 */
export function editingAgent(
  name: string,
  { yaml = '', kinds = 'function', evidence = 'parses', command, from, to }: Replacement,
) {
  return {
    [`agents/${name}/bundle.yaml`]: `name: ${name}
description: Replace one text by another.
node_kinds: [${kinds}]
languages: [python]
${yaml}
initial_context:
  system_prompt: |
    <task_description>Replace the text. Always respond with a tool call.</task_description>
  node_context: |
    {{ qualified_name }} in {{ file_path }}:

    {{ node_text }}
tools:
  - { name: replace_text, script: tools/replace_text.pym, description: Replace the text. }
  - { builtin: submit_result }
evidence: [${evidence}]
${command === undefined ? '' : `programs: [${command[0]}]`}
requires_context: false
limits: { max_turns: 3 }
`,
    [`agents/${name}/tools/replace_text.pym`]: `"""Another text in place of one."""
from typing import Any

from grail import Input, external

file_path: str = Input("file_path")
node_text: str = Input("node_text")


@external
async def read_file(path: str) -> str: ...


@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...


${command === undefined ? '' : commandCall(command)}before = await read_file(file_path)
after = before.replace(node_text, node_text.replace(${JSON.stringify(from)}, ${JSON.stringify(to)}))
if after != before:
    await write_file(file_path, after)
answer = {
    "result": node_text,
    "summary": "replaced",
    "knowledge_delta": {},
    "outcome": "success",
}
answer
`,
  }
}

/** A command that does not end well fails the tool. */
function commandCall(command: readonly string[]): string {
  return `@external
async def run_command(command: list[str]) -> dict[str, Any]: ...


ran = await run_command(${JSON.stringify(command)})
if ran["exit_code"] != 0:
    raise RuntimeError(str(ran))
`
}
