import { z } from 'zod'
import { maxOpenRuns } from '#domain/run.ts'
import { logFormats, logLevels } from '#platform/log.ts'
import type { Owner, SettingsTable } from './setting.ts'

const count = z.int().min(1)
const port = z.int().min(0).max(65_535)
const text = z.string()
const daySeconds = 86_400

function healthPort<One extends Owner>(owner: One, usual: number) {
  const about = 'port of `/healthz`, `/readyz` and `/metrics`'
  return { owners: [owner], type: port, default: usual, setByStack: true, about } as const
}

export const serviceSettings = {
  REMORA_API_HOST: {
    key: 'api.host',
    owners: ['api'],
    type: text,
    default: '127.0.0.1',
    setByStack: true,
    about: 'the address that the API listens at; in an embedded stack always 127.0.0.1',
  },
  REMORA_API_PORT: {
    key: 'api.port',
    owners: ['api', 'cli'],
    type: port,
    default: 8420,
    setByStack: true,
    about: 'the port of the API, also of `remora up`; 0: any free one',
  },
  REMORA_RETENTION_S: {
    key: 'events.retention_s',
    owners: ['discovery'],
    type: z.int().min(60),
    default: 7 * daySeconds,
    about: 'seconds after which an ended run is deleted',
  },
  REMORA_STREAM_RANGES: {
    key: 'events.stream_ranges',
    owners: ['discovery'],
    type: count,
    default: 200_000,
    about:
      'how many entries the stream of the events of all runs has at most (about 50 bytes each); older ones than `events.retention_s` go before, once every group has acknowledged them',
  },
  REMORA_COLLECT_GRACE_S: {
    key: 'workspaces.retention_s',
    owners: ['discovery'],
    // At least twice the hour for which a process relies on a blob that it has put (store/objects/blob-store.ts).
    type: z.int().min(7200),
    default: daySeconds,
    about: 'an object put within so many seconds is never collected; it must be longer than the longest run',
  },
  REMORA_FULL_PROMPTS: {
    key: 'llm_log.include_full_prompts',
    owners: ['api'],
    type: z.boolean(),
    default: true,
    fromText: (words) => z.stringbool().safeParse(words).data ?? words,
    about: 'transcripts show the texts of prompts; `false`: only how long they were (they are stored either way)',
  },
  REMORA_CONFIG: {
    owners: ['cli', 'api', 'discovery', 'worker', 'publisher'],
    type: text,
    setByStack: true,
    about: 'the settings file; `none`: no file. Without it the nearest `remora.yaml` from the working folder upwards',
  },
  REMORA_LOG_LEVEL: {
    owners: ['cli', 'api', 'discovery', 'worker', 'conductor', 'watcher', 'setup', 'publisher'],
    type: z.enum(logLevels),
    default: 'info',
    setByStack: true,
    about: "the least level that is logged, on stderr, of an embedded stack in its folder's `stack.log`",
  },
  REMORA_LOG_FORMAT: {
    owners: ['cli', 'api', 'discovery', 'worker', 'conductor', 'watcher', 'setup', 'publisher'],
    type: z.enum(logFormats),
    default: 'json',
    about: 'how log lines look: `json`, one document on each, or `pretty`, for people',
  },
  REMORA_TOKEN: {
    owners: ['api', 'cli'],
    type: text,
    setByStack: true,
    about:
      'secret: the bearer token. The API requires one of at least 16 characters; the command line sends it, or gives it to the stack that it starts',
  },
  REMORA_SIGNING_KEY: {
    owners: ['api', 'publisher'],
    type: text,
    setByStack: true,
    about:
      'secret: with it the API and the publisher, which both require it, sign decisions, requests, webhooks and tokens in Redis, so that no other service makes up any. At least 32 characters; while it is changed `NEW,OLD`',
  },
  REMORA_MAX_UPLOAD_BYTES: {
    owners: ['api', 'discovery'],
    type: count,
    default: 1024 ** 3,
    about: 'larger archives, also those that are fetched from a code host, are refused (INTAKE_003)',
  },
  REMORA_MAX_UPLOADS: {
    owners: ['api'],
    type: count.max(1000),
    default: 8,
    about: 'archives that are received at once; each holds up to 24 MiB in memory',
  },
  REMORA_REQUESTS_PER_SECOND: {
    owners: ['api'],
    type: z.int().min(0).max(100_000),
    default: 100,
    about: 'lasting rate of one token, which may send five times as many at once; 0: no limit',
  },
  REMORA_TOKEN_REQUESTS_PER_MINUTE: {
    owners: ['api'],
    type: z.int().min(0).max(1_000_000),
    default: 0,
    about:
      'requests that a token without a limit of its own may send at once, and a minute in the long run, to all processes of the API together; 0: no limit. `REMORA_TOKEN` has none',
  },
  REMORA_TOKEN_RUNS: {
    owners: ['api'],
    type: z.int().min(0).max(maxOpenRuns),
    default: 0,
    about:
      'runs that a token without a limit of its own may have that have not ended; 0: no limit. `REMORA_TOKEN` has none',
  },
  REMORA_MAX_CONNECTIONS: {
    owners: ['api'],
    type: z.int().min(10).max(100_000),
    default: 1000,
    about: 'connections open at once',
  },
  REMORA_REDIS_MEMORY_SHARE: {
    owners: ['api'],
    type: z.number().gt(0).max(1),
    default: 0.8,
    about: "above this share of Redis' memory no run and no retry is accepted (503 STORE_001)",
  },
  REMORA_HOUSEKEEPING_S: {
    owners: ['discovery'],
    type: z
      .int()
      .min(0)
      .max(7 * daySeconds),
    default: 600,
    about:
      'seconds between two searches for ended runs; 0: this process does none. Unreferenced objects are collected at most once an hour, by one process at a time',
  },
  REMORA_LEASE_MS: {
    owners: ['discovery', 'worker', 'conductor', 'publisher'],
    type: z.int().min(1000).max(3_600_000),
    default: 30_000,
    about:
      'how long a worker may be silent before its operations go to another one, a conductor its runs, a publisher its publications, and a discovery (at least 10 s) its stages; the same on all of them',
  },
  REMORA_BLOB_CACHE_BYTES: {
    owners: ['discovery', 'worker'],
    type: count,
    defaults: { discovery: 64 * 1024 ** 2 },
    about: 'file contents kept in memory; without it a worker keeps 4 MiB for each slot, and 256 MiB at most',
  },
  REMORA_HEALTH_HOST: {
    owners: ['api', 'discovery', 'worker', 'conductor', 'watcher', 'setup', 'publisher'],
    type: text.min(1),
    default: '127.0.0.1',
    setByStack: true,
    about:
      'the address at which `/healthz`, `/readyz` and `/metrics` are served, without a token; in a container `0.0.0.0`, where only the cluster reaches it',
  },
  REMORA_API_HEALTH_PORT: healthPort('api', 8424),
  REMORA_DISCOVERY_HEALTH_PORT: healthPort('discovery', 8422),
  REMORA_WORKER_HEALTH_PORT: healthPort('worker', 8423),
  REMORA_CONDUCTOR_HEALTH_PORT: healthPort('conductor', 8428),
  REMORA_WATCHER_HEALTH_PORT: healthPort('watcher', 8429),
  REMORA_SETUP_HEALTH_PORT: healthPort('setup', 8425),
  REMORA_PUBLISHER_HEALTH_PORT: healthPort('publisher', 8426),
  REMORA_WORKER_ID: {
    owners: ['worker'],
    type: text.regex(/^[\w.-]{1,64}$/),
    setByStack: true,
    about:
      'the name of the worker in events and logs, which no other worker may have; without it `worker-<host>-<pid>-<random>`',
  },
  REMORA_WORKER_SCRIPT_PROCESSES: {
    owners: ['worker'],
    type: count.max(64),
    about: 'sandbox processes for tool scripts; without it one for up to 16 slots, two for more',
  },
  REMORA_DRAIN_MS: {
    owners: ['worker'],
    type: count.max(86_400_000),
    default: 20_000,
    setByStack: true,
    about: 'how long operations may go on after SIGTERM; those that are not done then are handed back',
  },
} satisfies SettingsTable

export const localSettings = {
  REMORA_REHEARSAL_HOST: {
    owners: ['rehearsal'],
    type: text.min(1),
    default: '127.0.0.1',
    setByStack: true,
    about: 'the address that the rehearsal service listens at',
  },
  REMORA_REHEARSAL_PORT: {
    owners: ['rehearsal'],
    type: port,
    default: 8421,
    setByStack: true,
    about: 'the port of the rehearsal service; 0: any free one',
  },
  REMORA_REHEARSAL_LATENCY_MS: {
    owners: ['rehearsal'],
    type: z.number().min(0).max(3_600_000),
    default: 0,
    about: 'added to every reply of the rehearsal model',
  },
  REMORA_REHEARSAL_FAULTS: {
    owners: ['rehearsal'],
    type: text,
    default: '',
    about: 'shares of requests that meet an injected fault: `429:0.05,hang:0.01`',
  },
  REMORA_REHEARSAL_REFUSES: {
    owners: ['rehearsal'],
    type: z.array(text),
    default: [],
    about:
      'what the rehearsal model answers 400 to, as some servers do: `named,required`; also `system_role`, `tools`, `auto`, `strict_schemas`, `strict_arguments`, `lengths`, `parallel_calls`, `tool_messages`, `json_schema`, `structured_outputs`, `stream_usage`',
  },
  REMORA_REHEARSAL_SEED: {
    owners: ['rehearsal'],
    type: z.int().min(0),
    default: 1,
    about: 'the seed that draws the faults',
  },
  REMORA_API_URL: {
    owners: ['cli'],
    type: text.refine((url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol), {
      error: 'must be the http(s) URL of a service, such as http://localhost:8420',
    }),
    about: 'a running service to use instead of an embedded stack',
  },
  REMORA_DATA_DIR: {
    owners: ['cli'],
    type: text,
    about:
      "where the embedded stack keeps Redis' file, objects and its log, made if missing; without it the nearest `.remora` of an earlier run from the working folder upwards, else one there",
  },
  REMORA_REDIS_INSTALL: {
    owners: ['cli'],
    type: z.enum(['auto', 'never']),
    default: 'auto',
    about: '`never`: a Redis that is missing is reported, and neither installed nor built',
  },
  PATH: { owners: ['cli'], type: text, default: '', about: 'where programs are looked for' },
  NO_COLOR: { owners: ['cli'], type: text, about: 'any value but an empty one: no colours; so does `TERM=dumb`' },
  FORCE_COLOR: {
    owners: ['cli'],
    type: text,
    about: 'any value but an empty one and `0`: colours in a pipe too; `NO_COLOR` wins',
  },
  TERM: { owners: ['cli'], type: text, about: '`dumb`: no colours' },
} satisfies SettingsTable
