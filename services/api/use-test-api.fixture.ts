import { testRedis } from '#testing/redis.ts'
import { testObjects } from '#testing/s3.ts'
import { useOpened } from '#testing/use-opened.ts'
import { openTestApi, type TestApi, type TestApiOptions } from './app.fixture.ts'

/** An API over stores of its own for the tests of a file. */
export function useTestApi(options: TestApiOptions = {}): TestApi {
  return useOpened(async () => openTestApi(await testRedis(), await testObjects(), options))
}
