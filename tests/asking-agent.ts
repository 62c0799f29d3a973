/** A bundle whose only tool asks a person what a function is for, and writes the answer above it. */
export const askingAgent: Readonly<Record<string, string>> = {
  'agents/purpose/bundle.yaml': `name: purpose
description: Ask what a function is for.
node_kinds: [function]
languages: [python]
initial_context:
  system_prompt: |
    <task_description>Have a person say what the function is for. Always respond with a tool call.</task_description>
  node_context: "{{ qualified_name }} in {{ file_path }}"
tools:
  - { name: ask_purpose, script: tools/ask_purpose.pym, description: Ask what the function is for. }
  - { builtin: submit_result }
evidence: [parses]
limits: { max_turns: 3, answer_within_s: 600 }
`,
  'agents/purpose/tools/ask_purpose.pym': `"""A comment above the function, in a person's words."""
from typing import Any

from grail import Input, external

file_path: str = Input("file_path")
node_name: str = Input("node_name")


@external
async def read_file(path: str) -> str: ...


@external
async def write_file(path: str, content: str) -> dict[str, Any]: ...


@external
async def ask_user(question: str, choices: list[str] | None = None) -> str: ...


head = f"def {node_name}("
before = await read_file(file_path)
purpose = await ask_user(f"What is {node_name} for?")
await write_file(file_path, before.replace(head, f"# {purpose}\\n{head}"))
answer = {
    "result": purpose,
    "summary": f"{node_name} is for: {purpose}",
    "knowledge_delta": {},
    "outcome": "success",
}
answer
`,
}

/** The same under another name, with choices. */
export const choosingAgent: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(askingAgent).map(([path, text]) => [
    path.replace('/purpose/', '/choosing/'),
    text.replace('name: purpose', 'name: choosing').replace('for?")', 'for?", ["use", "show"])'),
  ]),
)
