import { repeatEvery } from '#platform/clock.ts'

export type WhileAllowed = {
  /** Asked every `everyMs`. A failure says nothing: it is asked again. */
  isAllowed(): Promise<boolean>
  everyMs: number
  /** Called when it is not allowed any more; it is to end the texts. */
  end(): void
}

/** `texts`, with `end` called once their reader may not have them any more. */
export async function* whileAllowed(
  texts: AsyncGenerator<string, void, undefined>,
  { isAllowed, everyMs, end }: WhileAllowed,
): AsyncGenerator<string, void, undefined> {
  const stop = repeatEvery(everyMs, async () => {
    if (!(await isAllowed())) end()
  })
  try {
    yield* texts
  } finally {
    await stop()
  }
}
