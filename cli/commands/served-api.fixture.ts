import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { openTestApi, type TestApi } from '../../services/api/app.fixture.ts'
import { serveApp } from '../../services/api/http/serve-app.ts'

export type ServedApi = { api: TestApi; url: string; close(): Promise<void> }

/** An API of its own on a port of its own, for commands to ask. */
export async function openServedApi(): Promise<ServedApi> {
  const api = await openTestApi(await testRedis(), await testObjects())
  const { url, close } = await serveApp(api.app, { host: '127.0.0.1', port: 0, graceMs: 1_000 })
  return {
    api,
    url,
    async close() {
      await close()
      await api.close()
    },
  }
}
