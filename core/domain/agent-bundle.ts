import { z } from 'zod'
import { ErrorPolicyName } from './run.ts'
import { NodeKind } from './code-node.ts'
import { changeChecks, evidenceChecks } from './change-set.ts'
import type { ToolDefinition } from './turn.ts'

/**
 * The Python that a bundle's tool scripts may use: `default` is the subset that the script rules allow, `monty` everything
 * that the sandbox runs.
 */
export const ScriptProfile = z.enum(['default', 'monty'])
export type ScriptProfile = z.infer<typeof ScriptProfile>

/** How much one run of a tool script may use (core/tool-scripts/script-limits.ts). */
export const ScriptLimitPreset = z.enum(['strict', 'default', 'permissive'])
export type ScriptLimitPreset = z.infer<typeof ScriptLimitPreset>

const name = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/)
const Scalar = z.union([z.string(), z.number(), z.boolean()])

const ScriptTool = z.strictObject({
  name,
  script: z.string(),
  description: z.string().min(1),
  inputs_override: z.record(z.string(), z.record(z.string(), z.unknown())).default({}),
})
const BuiltinTool = z.strictObject({ builtin: z.enum(['submit_result']) })

/** `bundle.yaml` as people write it (docs/guide/configuration.md); keys keep the file's own spelling. */
export const BundleFile = z.strictObject({
  name,
  description: z.string().min(1),
  node_kinds: z.array(NodeKind).min(1),
  languages: z.array(z.string()).min(1),
  /**
   * Bundles whose operations on the same node, and on those around it, must end well first: it starts from their changes. Those
   * that the run does not name are ignored.
   */
  after: z.array(name).default([]),
  /**
   * The same, except that an operation which ends badly is not needed: it then starts without its changes. Nor is the bundle: a copy
   * of this one may lie in a folder without it.
   */
  after_optional: z.array(name).default([]),
  /** Order among the bundle's own operations: `inner_first`: after those on nodes inside this one; `outer_first`: before them. */
  containment: z.enum(['none', 'inner_first', 'outer_first']).default('none'),
  /**
   * When a node needs this bundle, found without a model. `lint_faults`: the repository's own lint rules report a fault in
   * it. `no_docstring`: it is a definition without a docstring.
   */
  when: z.enum(['always', 'lint_faults', 'no_docstring']).default('always'),
  /** Work done without a model: `lint_fixes` applies the safe fixes of a file's lint faults. */
  mechanical: z.enum(['none', 'lint_fixes']).default('none'),
  priority: z.int().min(0).max(99).default(10),
  /** `one`: for models that cannot plan: code gathers and submits, and the model answers once. Needs `one_turn`. */
  turns: z.enum(['many', 'one']).default('many'),
  one_turn: z
    .strictObject({
      /** Tools that are called without arguments before the model is asked. */
      gather: z.array(name).default([]),
      /** The tool that the model must call. */
      carry_out: name,
    })
    .optional(),
  model: z.strictObject({ name: z.string().default('default'), adapter: z.string().default('') }).prefault({}),
  initial_context: z.strictObject({ system_prompt: z.string().min(1), node_context: z.string().min(1) }),
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
      /** Time waiting for a person does not count. A week at most. */
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
      /** The most messages in one request; the oldest replies are dropped. */
      context_messages: z.int().min(4).default(40),
      /** The most tokens in one request, tools included; capped by the model's own context. */
      context_tokens: z.int().min(256).default(32_000),
      /** The most that `requires_context` adds to the first message, in tokens of four characters. */
      related_tokens: z.int().min(50).max(100_000).default(800),
      /** The resource limits of one run of a tool script. */
      script: ScriptLimitPreset.default('default'),
      /** How many calls of one reply run at once, if their tools only read. */
      parallel_tools: z.int().min(1).max(64).default(4),
      /** How often a submission that fails verification is returned to the model. */
      verify_attempts: z.int().min(0).max(20).default(2),
    })
    .prefault({}),
  /** The checks that a change must pass. */
  evidence: z.array(z.enum(evidenceChecks)).default([...changeChecks]),
  /** With `accept: auto`, a change is accepted that has passed all of these on each of its files; without it, none is. */
  accept_when: z.array(z.enum(evidenceChecks)).min(1).optional(),
  error_policy: ErrorPolicyName.default('skip_downstream'),
  /** Whether the first message shows earlier results, related code, and why the operation failed in the run being retried. */
  requires_context: z.boolean().default(true),
})
export type BundleFile = z.infer<typeof BundleFile>

/** The bundles that it waits for, whichever way. */
export function awaitedBundles({
  after,
  after_optional: optional,
}: Pick<BundleFile, 'after' | 'after_optional'>): string[] {
  return [...after, ...optional]
}

/** The adapter or model that a bundle names; `default` for the workers' own. */
export function askedModel({ name: named, adapter }: BundleFile['model']): string {
  return adapter === '' ? named : adapter
}

/**
 * A bundle as a run pins it: everything a worker needs, stored in S3 under the hash of its JSON. `tools` are complete
 * definitions; `scripts` maps a tool's name to its `.pym` source (`submit_result` has none).
 */
export const AgentBundle = z.strictObject({
  /** Fields that a newer version added are dropped, so that both versions can read a bundle while they run side by side. */
  file: z.object(BundleFile.shape),
  tools: z.array(
    z.custom<ToolDefinition>(
      (value) => z.object({ name: z.string(), parameters: z.object() }).safeParse(value).success,
    ),
  ),
  scripts: z.record(z.string(), z.strictObject({ path: z.string(), source: z.string() })),
  /** The script inputs that the worker provides and the model never sees (provided inputs); the key keeps its old name in stored bundles. */
  hostInputs: z.record(z.string(), z.array(z.string())),
  /** Warnings about the bundle and its scripts, as `<bundle>/<file>:<line>:<column> <code> <message>`. */
  warnings: z.array(z.string()).default([]),
})
export type AgentBundle = z.infer<typeof AgentBundle>
