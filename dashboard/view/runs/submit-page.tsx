/** Is not built yet. */
export function SubmitPage() {
  return <p>SubmitPage</p>
}
