/** Is not built yet. */
export function InboxPage() {
  return <p>InboxPage</p>
}
