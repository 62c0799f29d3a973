import { z } from 'zod'
import { NodeKind } from './code-node.ts'
import { ShellCommand } from './setup.ts'
import { changeChecks, EvidenceCheck, isTestCheck } from './checks.ts'
import { DecodingConstraint, type ToolDefinition } from './turn.ts'

/** `default` is the subset that the script rules allow, `monty` everything that the sandbox runs. */
export const ScriptProfile = z.enum(['default', 'monty'])
export type ScriptProfile = z.infer<typeof ScriptProfile>

/** Names the limits of one run of a tool script (tool-scripts/script-limits.ts); a bundle may replace some of them. */
export const ScriptLimitPreset = z.enum(['strict', 'default', 'permissive'])
export type ScriptLimitPreset = z.infer<typeof ScriptLimitPreset>

const ScriptUse = z.strictObject({
  preset: ScriptLimitPreset.default('default').describe('the limits that are not named beside it'),
  memory_mb: z.int().min(1).max(256).optional().describe('memory of the script, in MiB (TOOL_006)'),
  timeout_s: z.number().min(0.05).max(60).optional().describe('own running time, in seconds (TOOL_003)'),
  recursion: z.int().min(10).max(1_000).optional().describe('calls inside calls (TOOL_006)'),
})
export type ScriptUse = z.infer<typeof ScriptUse>

const name = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/)
const bundleName = z.string().regex(/^[a-z][a-z0-9_-]{0,63}$/)
const Scalar = z.union([z.string(), z.number(), z.boolean()])

const ScriptTool = z.strictObject({
  name: name.describe('what the model calls it: at most 64 small letters, digits and `_`'),
  script: z
    .string()
    .describe(
      "the `.pym` file, from the bundle's folder, or `../<bundle>/tools/<name>.pym` for one of a bundle beside it or else of one that comes with Remora ([tool scripts](../guide/tool-scripts.md))",
    ),
  description: z.string().min(1).describe('what the model reads of it'),
  submits: z
    .boolean()
    .default(false)
    .describe(
      'a call of it whose outcome is `success` ends the work: code submits it, and the changes are proved. What fails is answered to the model, which goes on',
    ),
  approval: z
    .enum(['required'])
    .optional()
    .describe(
      'a person [approves each call](../guide/agents.md#approval) before it is made; the operation waits without a slot',
    ),
  inputs_override: z
    .record(z.string(), z.record(z.string(), z.unknown()))
    .default({})
    .describe(
      "by input, keywords of JSON Schema that the model is offered besides the script's own, such as `description`, `enum` or `minimum`; `type`, `required` and `default` are the script's",
    ),
})
const BuiltinTool = z.strictObject({
  builtin: z.enum(['submit_result']).describe('the tool that ends the work; every bundle has it, once'),
})

/** The descriptions are those of docs/reference/bundle.md, in Markdown. */
export const BundleLimits = z.strictObject({
  max_turns: z
    .int()
    .min(1)
    .max(200)
    .default(12)
    .describe(
      'replies of the model; the last may only submit (AGENT_004). When a model repeats a call and gets the same answer, the answer says so; after the third time it has one more turn, in which it may only submit',
    ),
  timeout_s: z
    .number()
    .positive()
    .max(7 * 86_400)
    .default(300)
    .describe(
      'of work, in seconds (AGENT_006), without waiting for a person or for a slot at a model server, and without tries that failed',
    ),
  answer_within_s: z
    .number()
    .positive()
    .max(30 * 86_400)
    .default(86_400)
    .describe('how long a question to a person stays open; its operation is blocked after that (ASK_003)'),
  max_tokens: z
    .int()
    .min(1)
    .default(512)
    .describe('of one reply; cut short twice before a tool call is whole: AGENT_007'),
  context_messages: z
    .int()
    .min(4)
    .default(40)
    .describe('of the conversation, in one request; the oldest replies are left out'),
  context_tokens: z
    .int()
    .min(256)
    .default(32_000)
    .describe(
      "of one request, tools included; less where the model's context is shorter. Estimated until the server has counted; a request that cannot be cut to it is not sent (AGENT_007)",
    ),
  related_tokens: z
    .int()
    .min(50)
    .max(100_000)
    .default(800)
    .describe('the most that `requires_context` adds to the first message, in tokens of four characters'),
  script: z
    .union([ScriptLimitPreset.transform((preset): ScriptUse => ({ preset })), ScriptUse])
    .prefault('default')
    .describe(
      '[what one run of a tool script may use](../guide/tool-scripts.md#limits): a preset, or an object of `preset`, `memory_mb`, `timeout_s` and `recursion`',
    ),
  parallel_tools: z
    .int()
    .min(1)
    .max(64)
    .default(4)
    .describe('calls of one reply that run at once, where their tools only read'),
  verify_attempts: z
    .int()
    .min(0)
    .max(20)
    .default(2)
    .describe('how often a submission that fails its verification is returned to the model'),
  test_runs: z
    .int()
    .min(1)
    .max(20)
    .default(3)
    .describe(
      'how often tests are run for `tests_pass`, and by `write_tests`; one that does not always pass has failed',
    ),
  mutants: z
    .int()
    .min(1)
    .max(40)
    .default(8)
    .describe('the most faults that are planted in the node, one at a time, for `tests_kill_mutants`'),
})

/** `bundle.yaml` as people write it; keys keep the file's own spelling. docs/reference/bundle.md is made from this. */
export const BundleFile = z.strictObject({
  name: bundleName.describe('that of its folder: at most 64 small letters, digits, `_` and `-`'),
  description: z.string().min(1).describe('one line for `remora agents`'),
  node_kinds: z
    .array(NodeKind)
    .min(1)
    .describe('the kinds of [code nodes](../guide/discovery.md) that it takes, such as `function`, `class`, `file`'),
  languages: z.array(z.string()).min(1).describe('their languages'),
  after: z
    .array(bundleName)
    .default([])
    .describe(
      'bundles whose operations on the same node, and on those around it, must end well first: it starts from their changes. Those that the run does not name are ignored',
    ),
  after_optional: z
    .array(bundleName)
    .default([])
    .describe(
      'the same, except that it starts without the changes of an operation that ends badly. There need be no such bundle',
    ),
  containment: z
    .enum(['none', 'inner_first', 'outer_first'])
    .default('none')
    .describe(
      'order among its own operations. `inner_first`: after those on nodes inside this one; `outer_first`: before them',
    ),
  when: z
    .enum(['always', 'lint_faults', 'no_docstring', 'no_samples', 'untested'])
    .default('always')
    .describe(
      "when a node needs it, found without a model. `lint_faults`: the repository's own lint rules report a fault in it; `no_docstring`: it is a definition without a docstring; `no_samples`: its parameters have types that can be written as data, and there is no file of samples for it; `untested`: it is a public function or method that no test names",
    ),
  mechanical: z
    .enum(['none', 'lint_fixes'])
    .default('none')
    .describe("work that is done without a model. `lint_fixes`: the safe fixes of a file's lint faults"),
  priority: z.int().min(0).max(99).default(10).describe('0 runs first'),
  item_operations: z.int().min(1).optional().describe('of an item of an objective whose budget has none; absent: any'),
  gather: z
    .array(name)
    .default([])
    .describe(
      'tools that code calls without arguments before the model is asked, so that no request goes to reading what every operation reads',
    ),
  turns: z
    .enum(['many', 'one'])
    .default('many')
    .describe(
      '`one`: for models that cannot plan: code gathers and submits, and the model answers once. Needs `one_turn`. Users may set it in `agents.mapping`',
    ),
  one_turn: z
    .strictObject({
      gather: z.array(name).optional().describe('in place of the `gather` of the bundle'),
      carry_out: name.describe('the tool that the model must call'),
      answer: z
        .record(z.string(), z.record(z.string(), z.unknown()))
        .default({})
        .describe(
          'by input of that tool, keywords of JSON Schema that its answer is held to besides, where the server can, such as `maxLength` or `enum`. Calls are not checked against them',
        ),
    })
    .optional()
    .describe('how the work is done in one turn'),
  model: z
    .strictObject({
      name: z.string().default('default').describe("the model to ask for; `default` is the workers' own"),
      adapter: z.string().default('').describe('the name of a LoRA adapter, which is asked for instead'),
    })
    .prefault({}),
  initial_context: z.strictObject({
    system_prompt: z
      .string()
      .min(1)
      .describe(
        'the system prompt, a template ([what the model reads](../guide/configuration.md#what-the-model-reads))',
      ),
    node_context: z.string().min(1).describe('the first message, a template'),
  }),
  profile: ScriptProfile.default('default').describe(
    '[the Python that its scripts may use](../guide/tool-scripts.md#profiles)',
  ),
  settings: z
    .record(
      name,
      z.strictObject({
        enum: z.array(Scalar).optional().describe('the values that it may have; without it, any'),
        default: Scalar.describe('its value where `agents.settings` of `remora.yaml` gives none'),
      }),
    )
    .default({})
    .describe('what users may set: prompts read it as `settings.<name>`, scripts as the input `settings`'),
  tools: z
    .array(z.union([ScriptTool, BuiltinTool]))
    .min(1)
    .describe('what the model may call, in the order it is offered'),
  programs: z
    .array(z.string().regex(/^[\w.+-]{1,64}$/))
    .optional()
    .describe(
      'programs that its scripts may start with `run_command`, by name; they run in [the sandbox](../guide/operations.md#the-sandbox). A bundle whose scripts run commands or tests has this key; of one that only runs tests the list is empty. A setting `programs`, names with spaces between, takes the place of the list',
    ),
  setup: ShellCommand.optional().describe(
    'a command that installs what its programs need, such as `pip install -e .[test]`, for runs that name none; it counts where the operator [allows setups](../guide/setup.md)',
  ),
  grammar: DecodingConstraint.default('none').describe(
    '[how replies are constrained](../guide/model-servers.md#constraints-of-a-bundle): a mapping goes to the server as its `structured_outputs`, such as `{ regex: … }`',
  ),
  allow_parallel_calls: z.boolean().default(false).describe('whether a reply may have several calls'),
  limits: BundleLimits.prefault({}),
  evidence: z
    .array(EvidenceCheck)
    .default([...changeChecks])
    .describe('the [checks](#checks) that every file must pass that an operation changes'),
  accept_when: z
    .array(EvidenceCheck)
    .min(1)
    .optional()
    .describe(
      'with `--accept auto`, a change is accepted of which each file has passed all of these that apply to its language, and at least one check; without it, none is',
    ),
  requires_context: z
    .boolean()
    .default(true)
    .describe(
      'whether the first message shows earlier results, related code, and why the operation failed in the run being retried',
    ),
})
export type BundleFile = z.infer<typeof BundleFile>

/** Tells whether a person must approve the calls of a tool. */
export function needsApproval({ tools }: Pick<BundleFile, 'tools'>, tool: string): boolean {
  return tools.some((one) => 'approval' in one && one.name === tool && one.approval === 'required')
}

/** Returns the bundles that it waits for, whichever way. */
export function awaitedBundles(file: Pick<BundleFile, 'after' | 'after_optional'>): string[] {
  return [...file.after, ...file.after_optional]
}

export function provesTests({ when, evidence }: Pick<BundleFile, 'when' | 'evidence'>): boolean {
  return when === 'untested' || evidence.some(isTestCheck)
}

/** The adapter or model that a bundle names; `default` for the workers' own. */
export function askedModel({ name: named, adapter }: BundleFile['model']): string {
  return adapter === '' ? named : adapter
}

const ToolShape = z.object({ name: z.string(), parameters: z.object() })

/** Holds all that a worker needs of a bundle, stored in S3 under the hash of its JSON. `scripts` maps a tool's name to its `.pym` source. */
export const AgentBundle = z.strictObject({
  file: z.strictObject(BundleFile.shape),
  tools: z.array(z.custom<ToolDefinition>((value) => ToolShape.safeParse(value).success)),
  scripts: z.record(z.string(), z.strictObject({ path: z.string(), source: z.string() })),
  /** The script inputs that the worker provides and the model never sees (provided inputs). */
  hostInputs: z.record(z.string(), z.array(z.string())),
  /** Warnings about the bundle and its scripts, as `<bundle>/<file>:<line>:<column> <code> <message>`. */
  warnings: z.array(z.string()).default([]),
})
export type AgentBundle = z.infer<typeof AgentBundle>
