/** Is not built yet. */
export function FleetPage() {
  return <p>FleetPage</p>
}
