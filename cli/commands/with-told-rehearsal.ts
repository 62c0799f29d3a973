import type { Env } from '#platform/env.ts'
import type { SidesOrder } from '../harness/open-sides.ts'
import { kindOfModel } from '../model-server.ts'
import { isRehearsalTold, startRehearsalModel } from '../stack/rehearsal-model.ts'

/**
 * What `measure` makes of `order`. Where the environment says how the rehearsal model is to behave, it is a server that
 * does so, for as long as it is measured.
 */
export async function withToldRehearsal<Order extends SidesOrder, Measured>(
  order: Order,
  env: Env,
  measure: (order: Order) => Promise<Measured>,
): Promise<Measured> {
  const { model, compare, proxy } = order
  const isTested = kindOfModel(model) === 'rehearsal'
  const isCompared = compare?.url !== undefined && kindOfModel(compare.url) === 'rehearsal'
  if (!isRehearsalTold(env) || !(isTested || isCompared)) return measure(order)
  const rehearsal = await startRehearsalModel(env)
  const { url } = rehearsal
  try {
    return await measure({
      ...order,
      proxy: proxy && { ...proxy, direct: `${proxy.direct},127.0.0.1` },
      ...(isTested ? { model: url, modelName: undefined } : {}),
      ...(isCompared ? { compare: { ...compare, url } } : {}),
    })
  } finally {
    await rehearsal.close()
  }
}
