import { z } from 'zod'
import { NodeKind, PackName } from '#domain/code-node.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { ErrorPolicyName, SkipKind } from '#domain/run.ts'
import type { SettingsTable } from './setting.ts'

const name = z.string().min(1).max(256)
const folder = z.string().min(1)
const globs = z.array(z.string().min(1).max(1024)).superRefine((patterns, context) => {
  const fault = faultOfGlobs(patterns)
  if (fault !== undefined) context.addIssue(fault)
  // In a variable a comma separates patterns.
  if (patterns.some((glob) => glob.includes(','))) context.addIssue('write a pattern with a comma as several patterns')
})
const mapping = z.strictObject({
  node_kinds: z.array(NodeKind).min(1).optional(),
  priority: z.int().min(0).max(99).optional(),
  turns: z.enum(['many', 'one']).optional(),
})

export const runSettings = {
  REMORA_PATHS: {
    key: 'discovery.paths',
    owners: ['cli'],
    type: globs,
    default: [],
    about: 'globs or folders that a run works on when it names none itself; none: all files',
  },
  REMORA_LANGUAGES: {
    key: 'discovery.languages',
    owners: ['cli'],
    type: z.array(name.regex(/^[^,]*$/, 'must be without a comma')),
    default: [],
    about: 'languages that a run works on; none: all',
  },
  REMORA_DISCOVERY_EXCLUDE: {
    key: 'discovery.exclude',
    owners: ['cli', 'discovery'],
    type: globs,
    default: [],
    about: 'globs or folders that no run works on',
  },
  REMORA_INCLUDE: {
    key: 'discovery.include',
    owners: ['cli'],
    type: z.array(SkipKind),
    default: [],
    about: 'kinds of files that a run works on although discovery skips them by default',
  },
  REMORA_MAX_FILE_BYTES: {
    key: 'discovery.max_file_bytes',
    owners: ['cli', 'discovery'],
    type: z.int().min(1).max(64_000_000),
    default: 1_000_000,
    about: 'larger files are skipped',
  },
  REMORA_DISCOVERY_THREADS: {
    key: 'discovery.workers',
    owners: ['cli', 'discovery'],
    type: z.int().min(0).max(256),
    default: 0,
    about: 'parsing threads; 0: one per core',
  },
  REMORA_QUERY_PACK: {
    key: 'discovery.query_pack',
    owners: ['cli', 'discovery'],
    type: PackName,
    default: 'default',
    about: 'the query pack to use; a language without a pack of this name gives file nodes only',
  },
  REMORA_QUERIES_DIR: {
    key: 'discovery.queries_dir',
    owners: ['cli', 'discovery'],
    type: folder,
    isFolder: true,
    about: "a folder of your own query packs; a language's packs in it replace Remora's",
  },
  REMORA_AGENTS_DIR: {
    key: 'agents.dir',
    owners: ['cli', 'api', 'discovery'],
    type: folder,
    isFolder: true,
    about:
      'a folder of your own bundles, besides those that come with Remora: one of the same name replaces that. Discovery checks all of them when it starts (AGENT_001)',
  },
  REMORA_AGENTS_MAPPING: {
    key: 'agents.mapping',
    owners: ['discovery', 'cli'],
    type: z.record(name, mapping),
    default: {},
    about: "`node_kinds`, `priority` and `turns` of a bundle, by the bundle's name, instead of its own",
  },
  REMORA_AGENTS_SETTINGS: {
    key: 'agents.settings',
    owners: ['discovery', 'cli'],
    type: z.record(name, z.record(name, z.union([z.string(), z.number(), z.boolean()]))),
    default: {},
    about: "values for a bundle's own settings, by the bundle's name",
  },
  REMORA_WORKER_SLOTS: {
    key: 'execution.concurrency',
    owners: ['worker'],
    type: z.int().min(1).max(4096),
    default: 16,
    about:
      'requests of one worker to each model server at once. Three times as many operations are open, so that a model is not idle while some are set up or proved, and a third more (at least 8) for runs that begin',
  },
  REMORA_ERROR_POLICY: {
    key: 'execution.error_policy',
    owners: ['cli'],
    type: ErrorPolicyName,
    about: 'the error policy of runs that name none',
    file: { default: 'skip_downstream' },
  },
  REMORA_BUDGET_TOKENS: {
    key: 'execution.budget_tokens',
    owners: ['cli'],
    type: z.int().min(0).max(1_000_000_000_000),
    default: 0,
    about: 'tokens that a run of `remora run` or `remora submit` may use without `--budget-tokens`; 0: any number',
  },
  REMORA_VERIFY: {
    key: 'verify.command',
    owners: ['cli'],
    type: z.string().min(1).max(1_000),
    about:
      'a command, such as the tests, that must not get worse by the changes of a run that names none with `--verify`; it runs in the sandbox',
  },
  REMORA_VERIFY_RUNS: {
    key: 'verify.runs',
    owners: ['cli'],
    type: z.int().min(1).max(10),
    default: 2,
    about: 'how often that command is run on the original: a test that does not pass each time convicts no change',
  },
  REMORA_VERIFY_MAX_RUNS: {
    key: 'verify.max_runs',
    owners: ['cli'],
    type: z.int().min(3).max(10_000),
    default: 200,
    about: 'the most runs of that command; changes that are not proved by then are left out',
  },
  REMORA_VERIFY_LIMIT_S: {
    key: 'verify.limit_s',
    owners: ['cli'],
    type: z.number().positive().max(86_400),
    default: 1_800,
    about: 'the most seconds of all its runs together',
  },
  REMORA_MAX_TIMEOUT_S: {
    key: 'execution.timeout_s',
    owners: ['discovery'],
    type: z.number().positive().max(86_400),
    about: "the most seconds an attempt may take, whatever its bundle's limit",
  },
  REMORA_MAX_TURNS: {
    key: 'execution.max_turns',
    owners: ['discovery'],
    type: z.int().min(1),
    about: "the most turns of an attempt, whatever its bundle's limit",
  },
} satisfies SettingsTable
