import { z } from 'zod'
import { parseJson } from '#domain/json.ts'
import type { OpenAiClient } from '../http/openai-client.ts'

const Count = z.int().min(1).nullish().catch(undefined)
const Models = z.object({
  data: z.array(
    z.object({
      id: z.string(),
      max_model_len: Count,
      meta: z.object({ n_ctx: Count, n_ctx_train: Count }).nullish().catch(undefined),
    }),
  ),
})
const Props = z.object({ default_generation_settings: z.object({ n_ctx: z.int().min(1) }) })

/**
 * How many tokens a request for `model` and its reply may have together on this server: vLLM's `max_model_len` of
 * `GET /models`, or llama.cpp's context of one slot (`GET /props`, else `meta` of the model). Undefined where the server does
 * not say, as Ollama does not. Never rejects.
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
  const found = Models.safeParse(await read('/models')).data?.data.find(({ id }) => id === model)
  if (typeof found?.max_model_len === 'number') return found.max_model_len
  if (found?.meta === undefined || found.meta === null) return undefined
  const props = Props.safeParse(await read('/../props')).data
  return props?.default_generation_settings.n_ctx ?? found.meta.n_ctx ?? found.meta.n_ctx_train ?? undefined
}
