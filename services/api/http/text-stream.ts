/**
 * `texts` as the body of an answer. The next text is asked for when the client has taken the last, so a slow client
 * holds it up; one that goes calls `leave`. A failure is told to `onFailure` and ends the body after the last whole text.
 */
export function textStream(
  texts: AsyncGenerator<string, void, undefined>,
  { leave, onFailure }: { leave(): void; onFailure(error: unknown): void },
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const next = await texts.next()
          if (next.done === true) controller.close()
          else controller.enqueue(encoder.encode(next.value))
        } catch (error) {
          onFailure(error)
          controller.close()
        }
      },
      async cancel() {
        leave()
        await texts.return()
      },
    },
    { highWaterMark: 0 },
  )
}
