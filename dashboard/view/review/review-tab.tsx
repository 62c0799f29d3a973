/** Is not built yet. */
export function ReviewTab(_props: { runId: string }) {
  return <p>ReviewTab</p>
}
