/** Is not built yet. */
export function AgentsPage() {
  return <p>AgentsPage</p>
}
