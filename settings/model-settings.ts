import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import type { ModelKind } from '#domain/model-kind.ts'
import { faultOfServerUrl } from '#platform/server-urls.ts'
import { holdsSecret } from '#platform/hide-secrets.ts'
import type { SettingsTable } from './setting.ts'

/** Stands for the rehearsal model in place of a server's address. */
export const rehearsalWord = 'rehearsal'

/** It is undefined without the variable, since workers may have their servers from elsewhere. */
export function namedModelKind(names: readonly string[] | undefined): ModelKind | undefined {
  if (names === undefined) return undefined
  return names.includes(rehearsalWord) ? 'rehearsal' : 'servers'
}

const count = z.int().min(1)
const name = z.string().min(1).max(4096)
const serverUrl = z.string().superRefine((text, context) => {
  const fault = faultOfServerUrl(text)
  if (fault !== undefined) context.addIssue(fault)
})
const serverUrlOrWord = z.string().superRefine((text, context) => {
  const fault = text === rehearsalWord ? undefined : faultOfServerUrl(text)
  if (fault !== undefined) context.addIssue(fault)
})
/** Secrets must not stand in remora.yaml, and commas separate servers in the variable. */
const serverUrlOfFile = z
  .url({ protocol: /^https?$/ })
  .refine((text) => !holdsSecret(text), 'holds a secret: secrets are set in the environment only')
  .refine((text) => !text.includes(','), 'must be without a comma, which separates servers')
  .refine((text) => !text.includes('?'), 'must be without a query, since none is sent')

const serversWith = <Url extends z.ZodType<string>>(url: Url) =>
  z.array(
    z.strictObject({
      url,
      models: z.array(z.string().min(1)).optional(),
      max_in_flight: z.coerce.number().int().min(1).optional(),
    }),
  )
const serversOfFile = serversWith(serverUrlOfFile).min(1)

export const modelSettings = {
  REMORA_MODEL_URLS: {
    owners: ['worker', 'conductor', 'watcher', 'cli', 'api', 'discovery', 'publisher'],
    type: z
      .array(serverUrlOrWord)
      .min(1)
      .refine((names) => names.length === 1 || !names.includes(rehearsalWord), '`rehearsal` stands alone'),
    setByStack: true,
    about:
      'the urls of `model.pool`, separated by commas, or `rehearsal` for the rehearsal service on its usual port. Without it the servers of REMORA_MODEL_POOL, without those the rehearsal model. API, discovery and publisher ask no model: they are told whether it is `rehearsal`, whose runs ask it for nothing that only a model can do',
  },
  REMORA_MODEL_POOL: {
    key: 'model.pool',
    owners: ['worker', 'conductor', 'watcher'],
    type: serversWith(serverUrl),
    default: [],
    fromText: parseJson,
    about:
      'model servers: each has a `url` with its `/v1`, and may have `models` (models and adapters it is asked for; none: those it offers) and `max_in_flight` (requests of all workers to it at once). The variable has the same as JSON, for servers in REMORA_MODEL_URLS',
    file: {
      type: serversOfFile,
      default: null,
      variables: ['REMORA_MODEL_URLS', 'REMORA_MODEL_POOL'],
      isOverruledBy: (text) => text !== rehearsalWord && !text.startsWith('['), // details alone name no servers
      fromText: (text) => text,
      toVariables(value) {
        const servers = serversOfFile.parse(value)
        const areUrlsOnly = servers.every(
          ({ models, max_in_flight: most }) => models === undefined && most === undefined,
        )
        return {
          REMORA_MODEL_URLS: servers.map(({ url }) => url).join(','),
          ...(areUrlsOnly ? {} : { REMORA_MODEL_POOL: JSON.stringify(servers) }),
        }
      },
    },
  },
  REMORA_MODEL: {
    key: 'model.default',
    owners: ['worker', 'conductor', 'watcher', 'cli'],
    type: name,
    setByStack: true,
    about:
      "the model's name on the servers; without it the first model they offer. In the file also `rehearsal`, for the rehearsal model",
    file: {
      variables: ['REMORA_MODEL', 'REMORA_MODEL_URLS'],
      isOverruledBy: (text, value) => !text.includes('://') || value === rehearsalWord,
      fromText: (text) => (text.includes('://') ? null : text),
      toVariables: (value) => ({ [value === rehearsalWord ? 'REMORA_MODEL_URLS' : 'REMORA_MODEL']: String(value) }),
    },
  },
  REMORA_CONDUCTOR_MODEL: {
    key: 'model.roles.conductor',
    owners: ['conductor'],
    type: name,
    about: 'the model that decides what a run with an objective does; without it the one of `model.default`',
  },
  REMORA_CHAT_MODEL: {
    key: 'model.roles.chat',
    owners: ['conductor'],
    type: name,
    about: 'the model that answers what people ask about a run (`remora ask`); without it that of the conductor',
  },
  REMORA_MODEL_API_KEY: {
    owners: ['worker', 'conductor', 'watcher', 'cli', 'api'],
    type: z.string(),
    setByStack: true,
    about:
      'secret: the key that workers, the conductor and the watcher send to the model servers; the api hides it in what it shows',
  },
  REMORA_MODEL_MAX_IN_FLIGHT: {
    owners: ['worker', 'conductor', 'watcher'],
    type: count.max(100_000),
    default: 64,
    about: 'requests of all workers to one server at once, for servers without a `max_in_flight` in `model.pool`',
  },
  REMORA_MODEL_TEMPERATURE: {
    key: 'model.request.temperature',
    owners: ['worker', 'conductor', 'watcher'],
    type: z.number().min(0).max(2),
    default: 0,
    about: 'the temperature of every request',
  },
  REMORA_MODEL_STREAM: {
    key: 'model.request.stream',
    owners: ['worker', 'conductor', 'watcher', 'cli'],
    type: z.boolean(),
    default: false,
    about:
      'ask for answers piece by piece: events then show the time to the first token, for some more CPU. Also the default of `remora harness`',
  },
  REMORA_MODEL_TOOL_CHOICE: {
    key: 'model.request.tool_choice',
    owners: ['worker', 'conductor', 'watcher'],
    type: z.enum(['required', 'auto']),
    default: 'required',
    about: 'the tool choice of every request but the last of an attempt, which must submit',
  },
  REMORA_MODEL_TOOL_GUIDE: {
    key: 'model.request.tool_guide',
    owners: ['worker'],
    type: z.boolean(),
    default: false,
    about: 'end every system prompt with a line for each tool, which helps some small models',
  },
  REMORA_MODEL_TIMEOUT_MS: {
    key: 'model.request.timeout_s',
    owners: ['worker', 'conductor', 'watcher'],
    type: count.max(3_600_000),
    default: 120_000,
    about:
      'time limit of one request to a model server, for the whole reply: milliseconds in the variable, seconds in the file',
    file: {
      type: z.number().min(0.001).max(3600),
      default: 120,
      fromText: (text) => Number(text) / 1000,
      toVariables: (value) => ({ REMORA_MODEL_TIMEOUT_MS: String(Math.round(Number(value) * 1000)) }),
    },
  },
  REMORA_MODEL_HEDGE_AFTER_MS: {
    key: 'model.request.hedge_after_ms',
    owners: ['worker', 'conductor', 'watcher'],
    type: z.int().min(0).max(3_600_000),
    default: 0,
    about:
      'how long a request may be without an answer before it is also sent to a second server; the first good reply counts. 0: never, since a second request costs as much as the first',
  },
  REMORA_MODEL_RETRY_BUDGET_MS: {
    owners: ['worker', 'conductor', 'watcher', 'cli'],
    type: count.max(3_600_000),
    default: 20_000,
    about:
      'the retry budget: how long after its first failure a model request may be tried again. It begins anew when a further server fails the request for the first time, and with each of its first two replies that broke off. Each try has a time limit of its own. Also that of `remora harness`',
  },
  REMORA_MODEL_AWAY_LIMIT_S: {
    key: 'model.away_limit_s',
    owners: ['discovery', 'conductor'],
    type: count.max(30 * 86_400),
    default: 86_400,
    about:
      'how many seconds operations wait for a model of which no server works before they end as blocked (AGENT_002), and a run for the one that decides about it (POLICY_001); `remora retry` repeats those',
  },
} satisfies SettingsTable
