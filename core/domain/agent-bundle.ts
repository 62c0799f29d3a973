import { z } from 'zod'
import { ErrorPolicyName } from '#domain/run.ts'
import { NodeKind } from '#domain/code-node.ts'
import { changeChecks, evidenceChecks } from '#domain/evidence.ts'
import { ScriptProfile } from '#domain/script-profile.ts'
import { ScriptLimitPreset } from '#domain/script-limit-preset.ts'
import type { ToolDefinition } from '#domain/turn.ts'

const name = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/)
const Scalar = z.union([z.string(), z.number(), z.boolean()])

const ScriptTool = z.strictObject({
  name,
  script: z.string(),
  description: z.string().min(1),
  inputs_override: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
})
const BuiltinTool = z.strictObject({ builtin: z.enum(['submit_result']) })

/** `bundle.yaml` as people write it (contract.md §6); keys keep the file's own spelling. */
export const BundleFile = z.strictObject({
  name,
  description: z.string().min(1),
  node_kinds: z.array(NodeKind).min(1),
  languages: z.array(z.string()).min(1),
  /** Bundles whose operation on the same node must end well first; one that the run does not name is not waited for. */
  after: z.array(name).default([]),
  /** What an operation waits for among its own bundle's: `inner_first` those inside its node, `outer_first` the one around. */
  containment: z.enum(['none', 'inner_first', 'outer_first']).default('none'),
  /**
   * When it has work on a node: always, or when a check of the host finds some, which needs no model. `lint_faults`: the
   * repository's own lint rules report a fault in it. `no_docstring`: it is a definition that lacks a docstring.
   */
  when: z.enum(['always', 'lint_faults', 'no_docstring']).default('always'),
  /** What a program does of its work, without a model: `lint_fixes`, the safe fixes of a file's lint faults. */
  mechanical: z.enum(['none', 'lint_fixes']).default('none'),
  priority: z.int().min(0).max(99).default(10),
  model: z.strictObject({ name: z.string().default('default'), adapter: z.string().default('') }).prefault({}),
  initial_context: z.strictObject({ system_prompt: z.string().min(1), node_context: z.string().min(1) }),
  /** What the bundle's tool scripts may use. */
  profile: ScriptProfile.default('default'),
  settings: z.record(name, z.strictObject({ enum: z.array(Scalar).optional(), default: Scalar })).default({}),
  tools: z.array(z.union([ScriptTool, BuiltinTool])).min(1),
  grammar: z
    .strictObject({
      strategy: z.enum(['none', 'json_schema', 'structural_tag', 'ebnf']).default('none'),
      allow_parallel_calls: z.boolean().default(false),
    })
    .prefault({}),
  limits: z
    .strictObject({
      max_turns: z.int().min(1).max(200).default(12),
      /** Of work; waiting for a person does not count. A week at most. */
      timeout_s: z
        .number()
        .positive()
        .max(7 * 86_400)
        .default(300),
      /** How long a question to a person stays open; its operation is blocked after that. */
      answer_within_s: z
        .number()
        .positive()
        .max(30 * 86_400)
        .default(86_400),
      max_tokens: z.int().min(1).default(512),
      /** Of the conversation, in one request: the oldest replies are left out. */
      context_messages: z.int().min(4).default(40),
      /** The same, tools included; less where the model's own context is shorter. */
      context_tokens: z.int().min(256).default(32_000),
      /** What `requires_context` may add to the first message, in tokens of four characters. */
      related_tokens: z.int().min(50).max(100_000).default(800),
      /** What one run of a tool script may use. */
      script: ScriptLimitPreset.default('default'),
      /** Calls of one reply that run at once, of tools that only read. */
      parallel_tools: z.int().min(1).max(64).default(4),
      /** How often a submission that does not hold is given back to the model. */
      verify_attempts: z.int().min(0).max(20).default(2),
    })
    .prefault({}),
  /** What must be proved about a change before it counts. */
  evidence: z.array(z.enum(evidenceChecks)).default([...changeChecks]),
  error_policy: ErrorPolicyName.default('skip_downstream'),
  termination: z.literal('submit_result').default('submit_result'),
  /** Whether it is told of earlier results, related code, and why the operation failed in the run that is tried again. */
  requires_context: z.boolean().default(true),
})
export type BundleFile = z.infer<typeof BundleFile>

/**
 * A bundle as the run pins it: everything a worker needs, by value, stored in S3 under the hash of its JSON.
 * `tools` are complete definitions; `scripts` maps a tool's name to its `.pym` source; `submit_result` has none.
 */
export const AgentBundle = z.strictObject({
  /** What a newer version has added is dropped, so that a bundle it has pinned can be read while both run. */
  file: z.object(BundleFile.shape),
  tools: z.array(
    z.custom<ToolDefinition>(
      (value) => z.object({ name: z.string(), parameters: z.object() }).safeParse(value).success,
    ),
  ),
  scripts: z.record(z.string(), z.strictObject({ path: z.string(), source: z.string() })),
  /** Names of script inputs the host fills in and the model never sees. */
  hostInputs: z.record(z.string(), z.array(z.string())),
  /** What the check of the bundle and its scripts warned of, as `<bundle>/<file>:<line>:<column> <code> <message>`. */
  warnings: z.array(z.string()).default([]),
})
export type AgentBundle = z.infer<typeof AgentBundle>
