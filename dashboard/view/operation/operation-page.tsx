/** Is not built yet. */
export function OperationPage(_props: { runId: string; operationId: string }) {
  return <p>OperationPage</p>
}
