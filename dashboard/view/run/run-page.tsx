/** Is not built yet. */
export function RunPage(_props: { runId: string; tab: string }) {
  return <p>RunPage</p>
}
