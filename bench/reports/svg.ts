/** The lines differ in hue, lightness and dash, on white and on near-black. */
const strokes = [
  { colour: '#1f7fd6', dash: '' },
  { colour: '#d9730d', dash: '7 4' },
  { colour: '#2f9e44', dash: '2 3' },
  { colour: '#b04fc4', dash: '12 4' },
  { colour: '#c9372c', dash: '9 3 2 3' },
  { colour: '#0b8a8a', dash: '4 6' },
] as const

/** The attributes of the line number `at`. */
export function strokeOf(at: number): string {
  const { colour, dash } = strokes[at % strokes.length] ?? strokes[0]
  return `stroke="${colour}" stroke-width="2.5"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}`
}

export function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
