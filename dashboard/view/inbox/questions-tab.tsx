/** Is not built yet. */
export function QuestionsTab(_props: { runId: string }) {
  return <p>QuestionsTab</p>
}
