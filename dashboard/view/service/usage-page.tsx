/** Is not built yet. */
export function UsagePage() {
  return <p>UsagePage</p>
}
