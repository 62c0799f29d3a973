import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { silentLog } from '#platform/log.ts'
import { openRedactor } from '#platform/secrets/redactor.ts'
import { parseConfig } from '../../services/conductor/conductor-config.ts'
import { startConductor } from '../../services/conductor/conductor-service.ts'
import { lastDocument } from '../program.ts'
import { storeEnv } from '../services.ts'
import { useOneProcess, useSourceFolder } from '../use-services.ts'

const folder = useSourceFolder({
  'shop/stock.py': 'import os\n\n\ndef label(row):\n    return f"shelf" + row\n',
  'shop/price.py': 'def rounded(price):\n    return price\n',
})
const services = useOneProcess()

let closeConductor: () => Promise<void>
beforeAll(async () => {
  const { config: conductor } = parseConfig({
    ...storeEnv(services.stores),
    REMORA_MODEL_URLS: `${services.named('rehearsal').origin}/v1`,
    REMORA_CONDUCTOR_HEALTH_PORT: '0',
  })
  const { close } = await startConductor(conductor, { log: silentLog, redactor: openRedactor([]) })
  closeConductor = close
})
afterAll(() => closeConductor())

const Result = z.object({ result: z.object({ run_id: z.string(), status: z.string() }) })

it.each([
  ['completed', ['--agents', 'lint,docstring']],
  ['blocked', []],
])(
  'remora verify derives a run with an objective that ended as %s, and its retry, from the events',
  async (status, args) => {
    const { out, err } = await services.remora(folder, ['run', '.', '--objective', 'all is well', '--json', ...args])
    const { result } = Result.parse(lastDocument(out))
    expect(result.status, err).toBe(status)
    expect(await services.verify(result.run_id)).toMatchObject({ code: 0, err: '' })
    await services.remora(folder, ['retry', result.run_id, '--json'])
    expect(await services.verify(result.run_id)).toMatchObject({ code: 0, err: '' })
  },
)
