import { isAbsolute, resolve } from 'node:path'
import { z } from 'zod'
import { NodeKind, PackName } from '#domain/code-node.ts'
import { faultOfGlobs } from '#domain/path-globs.ts'
import { ErrorPolicyName } from '#domain/run.ts'
import { SkipKind } from '#domain/skip-kind.ts'
import { RedisUrl } from '#platform/redis-url.ts'
import { holdsSecret } from '#platform/without-login.ts'
import { setting } from './setting.ts'

const name = z.string().min(1).max(256)
const seconds = (least: number) => z.int().min(least)
const section = <Shape extends z.ZodRawShape>(shape: Shape) => z.strictObject(shape).optional()

/** Globs without a comma, which separates them in a variable. */
const Globs = z.array(z.string().min(1).max(1024)).superRefine((globs, context) => {
  const fault = faultOfGlobs(globs)
  if (fault !== undefined) context.addIssue(fault)
  if (globs.some((glob) => glob.includes(','))) context.addIssue('write a pattern with a comma as several patterns')
})

const secretFault = 'holds a secret: secrets are set in the environment only'
/** Secrets come from the environment alone. */
const ServerUrl = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !holdsSecret(text), secretFault)
  .refine((text) => !text.includes(','), 'must be without a comma, which separates servers')

/** Without what would not be sent. */
const ModelServerUrl = ServerUrl.refine((text) => !text.includes('?'), 'must be without a query, since none is sent')

/** A folder as the file names it, from the file's own. */
const folderOf = (folder: string, dir: string) => (isAbsolute(folder) ? folder : resolve(dir, folder))

const Scalar = z.union([z.string(), z.number(), z.boolean()])
const Mapping = z.strictObject({
  node_kinds: z.array(NodeKind).min(1).optional(),
  priority: z.int().min(0).max(99).optional(),
})
const Server = z.strictObject({
  url: ModelServerUrl,
  models: z.array(name).optional(),
  max_in_flight: z.int().min(1).optional(),
})

const isUrlOnly = ({ models, max_in_flight: most }: z.infer<typeof Server>) =>
  models === undefined && most === undefined

const discovery = section({
  paths: setting(Globs, {
    about: 'files a run works on, unless it names others; none: all',
    fallback: [],
    env: 'REMORA_PATHS',
  }),
  languages: setting(z.array(name.regex(/^[^,]*$/, 'must be without a comma')), {
    about: 'languages a run works on; none: all',
    fallback: [],
    env: 'REMORA_LANGUAGES',
  }),
  exclude: setting(Globs, {
    about: 'files and folders that are never worked on',
    fallback: [],
    env: 'REMORA_DISCOVERY_EXCLUDE',
  }),
  include: setting(z.array(SkipKind), {
    about:
      'kinds of files a run works on although they are skipped by default: `vendored`, `generated`, `submodules`, `migrations`, `snapshots`, `ignored`',
    fallback: [],
    env: 'REMORA_INCLUDE',
  }),
  max_file_bytes: setting(z.int().min(1).max(64_000_000), {
    about: 'larger files are passed over',
    fallback: 1_000_000,
    env: 'REMORA_MAX_FILE_BYTES',
  }),
  workers: setting(z.int().min(0).max(256), {
    about: 'parsing threads; 0: one per core',
    fallback: 0,
    env: 'REMORA_DISCOVERY_THREADS',
  }),
  query_pack: setting(PackName, {
    about: 'the query pack that is used of each language; one without a pack of this name gives file nodes only',
    fallback: 'default',
    env: 'REMORA_QUERY_PACK',
  }),
  queries_dir: setting(name, {
    about: "a folder of your own query packs, from the folder of this file; per language they replace Remora's",
    fallback: null,
    env: 'REMORA_QUERIES_DIR',
    say: folderOf,
  }),
})

const agents = section({
  dir: setting(name, {
    about: 'the folder of the bundles, from the folder of this file',
    fallback: null,
    env: 'REMORA_AGENTS_DIR',
    say: folderOf,
  }),
  mapping: setting(z.record(name, Mapping), {
    about: 'what a bundle takes instead of what it says itself: `node_kinds`, `priority`',
    fallback: {},
    env: 'REMORA_AGENTS_MAPPING',
  }),
  settings: setting(z.record(name, z.record(name, Scalar)), {
    about: "values for a bundle's own settings",
    fallback: {},
    env: 'REMORA_AGENTS_SETTINGS',
  }),
})

const execution = section({
  concurrency: setting(z.int().min(1).max(4096), {
    about: 'requests to each model server at once, per worker',
    fallback: 16,
    env: 'REMORA_WORKER_SLOTS',
  }),
  error_policy: setting(ErrorPolicyName, {
    about: 'of runs that name none: `continue`, `skip_downstream` or `stop_run`',
    fallback: 'skip_downstream',
    env: 'REMORA_ERROR_POLICY',
  }),
  timeout_s: setting(z.number().positive().max(86_400), {
    about: "the most an attempt may take, whatever its bundle's limit",
    fallback: null,
    env: 'REMORA_MAX_TIMEOUT_S',
  }),
  max_turns: setting(z.int().min(1).max(200), {
    about: "the most turns of an attempt, whatever its bundle's limit",
    fallback: null,
    env: 'REMORA_MAX_TURNS',
  }),
})

const rehearsal = 'rehearsal'
const Model = z.strictObject({
  pool: setting(z.array(Server).min(1), {
    about:
      'model servers: each has a `url` with its `/v1`, may have `models` (models and adapters it is asked for; none: those it offers) and `max_in_flight` (requests of all workers to it at once)',
    fallback: null,
    variables: ['REMORA_MODEL_URLS', 'REMORA_MODEL_POOL'],
    toEnv: (servers) => ({
      REMORA_MODEL_URLS: servers.map(({ url }) => url).join(','),
      ...(servers.every(isUrlOnly) ? {} : { REMORA_MODEL_POOL: JSON.stringify(servers) }),
    }),
    isSaidBy: (text) => text !== rehearsal && !text.startsWith('['), // details alone name no servers
  }),
  default: setting(name, {
    about:
      "`rehearsal`, or the model's name on the servers; none: the first they offer, without servers the rehearsal model",
    fallback: null,
    variables: ['REMORA_MODEL', 'REMORA_MODEL_URLS'],
    toEnv: (value) => (value === rehearsal ? { REMORA_MODEL_URLS: value } : { REMORA_MODEL: value }),
    isSaidBy: (text, value) => !text.includes('://') || value === rehearsal,
    fromEnv: (text) => (text.includes('://') ? null : text),
  }),
  request: section({
    temperature: setting(z.number().min(0).max(2), {
      about: 'of every request',
      fallback: 0,
      env: 'REMORA_MODEL_TEMPERATURE',
    }),
    stream: setting(z.boolean(), {
      about: 'ask for answers piece by piece: events tell the time to the first token, at some more CPU',
      fallback: false,
      env: 'REMORA_MODEL_STREAM',
    }),
    timeout_s: setting(z.number().min(0.001).max(3600), {
      about: 'of one request to a model server, the whole reply included; more for slow models',
      fallback: 120,
      env: 'REMORA_MODEL_TIMEOUT_MS',
      say: (value) => String(Math.round(value * 1000)),
      fromEnv: (text) => Number(text) / 1000,
    }),
    hedge_after_ms: setting(z.int().min(0).max(3_600_000), {
      about:
        'how long a request may be without an answer before it is sent to a second server too; 0: never, since it costs what it sends',
      fallback: 0,
      env: 'REMORA_MODEL_HEDGE_AFTER_MS',
      fromEnv: Number,
    }),
    max_tokens: setting(z.int().min(1), { about: 'of a reply', fallback: 512, unserved: 'each bundle says its own' }),
    tool_choice: setting(z.enum(['required', 'auto']), {
      about: 'of every request but the last of an attempt, which must submit',
      fallback: 'required',
      env: 'REMORA_MODEL_TOOL_CHOICE',
    }),
    tool_guide: setting(z.boolean(), {
      about: 'end every system prompt with a line for each tool, which helps some small models',
      fallback: false,
      env: 'REMORA_MODEL_TOOL_GUIDE',
    }),
  }),
  roles: setting(z.partialRecord(z.enum(['worker', 'conductor', 'watcher', 'terminal', 'researcher']), name), {
    about: 'a model for each role',
    fallback: {},
    unserved: 'workers are the only role there is',
  }),
})

type ModelSection = z.infer<typeof Model>

const model = Model.superRefine((said, context) => {
  const fault = unofferedDefault(said)
  if (fault !== undefined) context.addIssue({ code: 'custom', path: ['default'], message: fault })
}).optional()

/** Servers that name their models are asked for no other. */
function unofferedDefault({ pool = [], default: wanted = rehearsal }: ModelSection): string | undefined {
  const named = pool.flatMap(({ models = [] }) => models)
  if (pool.length === 0 || wanted === rehearsal) return undefined
  if (named.includes(wanted) || pool.some(({ models = [] }) => models.length === 0)) return undefined
  return `no server of model.pool has ${JSON.stringify(wanted)} among its models: ${[...new Set(named)].join(', ')}`
}

const storage = section({
  redis_url: setting(
    z.union([z.literal(''), RedisUrl]).refine((text) => !holdsSecret(text), secretFault),
    {
      about: 'of the services; `remora up` and `run` bring their own',
      fallback: '',
      env: 'REMORA_REDIS_URL',
    },
  ),
  s3: section({
    endpoint: setting(z.union([z.literal(''), ServerUrl]), {
      about: 'of the services; empty: AWS',
      fallback: '',
      env: 'REMORA_S3_ENDPOINT',
    }),
    bucket: setting(z.string().min(3), { about: 'it must exist', fallback: 'remora', env: 'REMORA_S3_BUCKET' }),
    region: setting(name, { about: 'of the bucket', fallback: 'us-east-1', env: 'REMORA_S3_REGION' }),
  }),
})

const day = 86_400
const api = section({
  host: setting(name, {
    about: 'where the API listens; of an embedded stack always 127.0.0.1',
    fallback: '127.0.0.1',
    env: 'REMORA_API_HOST',
  }),
  port: setting(z.int().min(0).max(65_535), { about: '0: any free one', fallback: 8420, env: 'REMORA_API_PORT' }),
})

/** `remora.yaml` as people write it (contract.md §5). Everything may be left out. */
export const SettingsFile = z.strictObject({
  discovery,
  agents,
  execution,
  model,
  storage,
  api,
  events: section({
    retention_s: setting(seconds(60), {
      about: 'an ended run is forgotten after so long',
      fallback: 7 * day,
      env: 'REMORA_RETENTION_S',
    }),
    max_inline_bytes: setting(seconds(1), { about: 'of an event', fallback: 16_384, unserved: 'events stay whole' }),
  }),
  workspaces: section({
    retention_s: setting(seconds(7200), {
      about: 'objects put within so long are never collected',
      fallback: day,
      env: 'REMORA_COLLECT_GRACE_S',
    }),
  }),
  sandbox: section({
    runtime: setting(name, { about: 'of programs', fallback: 'auto', unserved: 'no bundle runs programs yet' }),
    network: setting(z.boolean(), { about: 'for programs', fallback: false, unserved: 'no bundle runs programs yet' }),
    memory_mb: setting(seconds(1), { about: 'of programs', fallback: 512, unserved: 'no bundle runs programs yet' }),
    timeout_s: setting(seconds(1), { about: 'of programs', fallback: 60, unserved: 'no bundle runs programs yet' }),
  }),
  llm_log: section({
    enabled: setting(z.boolean(), {
      about: 'keep the conversations',
      fallback: true,
      unserved: 'conversations are part of the records that prove a run, and are kept as long as it',
    }),
    include_full_prompts: setting(z.boolean(), {
      about: 'transcripts show the texts of the prompts; false: only how long they were (they are stored either way)',
      fallback: true,
      env: 'REMORA_FULL_PROMPTS',
      fromEnv: (text) => z.stringbool().safeParse(text).data ?? text,
    }),
  }),
})
export type SettingsFile = z.infer<typeof SettingsFile>
