import { APIError } from 'openai'
import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import type { OpenAiClient } from '../http/openai-client.ts'

const Count = z.int().min(1).nullish().catch(undefined)
const Models = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      owned_by: z.string().nullish().catch(undefined),
      parent: z.string().nullish().catch(undefined),
      max_model_len: Count,
      meta: z.object({ n_ctx: Count, n_ctx_train: Count }).nullish().catch(undefined),
    }),
  ),
})
type OfferedModel = z.infer<typeof Models>['data'][number]
const Props = z.object({ default_generation_settings: z.object({ n_ctx: z.int().min(1) }) })

export type ContextAnswer = { tokens: number | undefined; isSure: boolean }

const unsure: ContextAnswer = { tokens: undefined, isSure: false }
type AskedServer = { client: OpenAiClient; timeoutMs: number }

/**
 * Reads how many tokens a request and its reply may have together: vLLM's `max_model_len` (an adapter's from its parent),
 * llama.cpp's context of a slot. They are undefined where the server does not say, as Ollama does not. Never rejects.
 */
export async function readContextTokens(model: string, server: AskedServer): Promise<ContextAnswer> {
  const page = await readJson('/models', server)
  if (page === 'no answer') return unsure
  const offered = Models.safeParse(page).data?.data ?? []
  const offer = offered.find(({ id }) => id === model) ?? offered.find((only) => answersAnyName(only, offered))
  const base = offered.find(({ id }) => id === offer?.parent)
  const length = offer?.max_model_len ?? base?.max_model_len ?? offer?.meta?.n_ctx
  if (typeof length === 'number') return { tokens: length, isSure: true }
  if (offer?.meta === undefined || offer.meta === null) return { tokens: undefined, isSure: true }
  const props = await readJson('/../props', server)
  if (props === 'no answer') return unsure
  const slot = Props.safeParse(props).data?.default_generation_settings.n_ctx
  return { tokens: slot ?? offer.meta.n_ctx_train ?? undefined, isSure: true }
}

/** llama.cpp answers requests for any name with its one model. */
function answersAnyName({ owned_by: owner, meta }: OfferedModel, offered: readonly OfferedModel[]): boolean {
  return offered.length === 1 && (owner === 'llamacpp' || (meta !== undefined && meta !== null))
}

/** Returns undefined for a page that is no JSON or does not exist. */
async function readJson(path: string, { client, timeoutMs }: AskedServer) {
  try {
    const response = await client.get(path, { timeout: timeoutMs }).asResponse()
    return parseJson(await response.text())
  } catch (error) {
    const status = error instanceof APIError ? error.status : undefined
    return status !== undefined && status < 500 && status !== 429 ? undefined : 'no answer'
  }
}
