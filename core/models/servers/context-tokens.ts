import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import type { OpenAiClient } from '../http/openai-client.ts'

const Count = z.int().min(1).nullish().catch(undefined)
const Models = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      parent: z.string().nullish().catch(undefined),
      max_model_len: Count,
      meta: z.object({ n_ctx: Count, n_ctx_train: Count }).nullish().catch(undefined),
    }),
  ),
})
const Props = z.object({ default_generation_settings: z.object({ n_ctx: z.int().min(1) }) })

/**
 * How many tokens a request for `model` and its reply may have together on this server: vLLM's `max_model_len` of
 * `GET /models`, an adapter's from its parent; llama.cpp's context of one slot there or in `GET /props`. Undefined where the
 * server does not say, as Ollama does not. Never rejects.
 */
export async function readContextTokens(
  model: string,
  { client, timeoutMs }: { client: OpenAiClient; timeoutMs: number },
): Promise<number | undefined> {
  const read = async (path: string) => {
    const text = await client
      .get(path, { timeout: timeoutMs })
      .asResponse()
      .then((response) => response.text())
      .catch(() => '')
    return parseJson(text)
  }
  const offered = Models.safeParse(await read('/models')).data?.data ?? []
  // llama.cpp answers to any name with the one model it has.
  const found = offered.find(({ id }) => id === model) ?? (offered.length === 1 ? offered[0] : undefined)
  const base = offered.find(({ id }) => id === found?.parent)
  const said = found?.max_model_len ?? base?.max_model_len ?? found?.meta?.n_ctx
  if (typeof said === 'number') return said
  if (found?.meta === undefined || found.meta === null) return undefined
  const props = Props.safeParse(await read('/../props')).data
  return props?.default_generation_settings.n_ctx ?? found.meta.n_ctx_train ?? undefined
}
