export type PrintedText = {
  add(stream: string, text: string): undefined
  text(): string
  /** What was printed, kept or not. */
  readonly length: number
}

/** Collects what a script prints, up to `maxBytes` (UTF-16 units); what is cut is counted and said at the end. */
export function openPrintedText(maxBytes: number): PrintedText {
  const pieces: string[] = []
  let kept = 0
  let cut = 0
  return {
    // Monty takes anything but undefined from its callback for an error.
    add(_stream, text) {
      const piece = text.slice(0, maxBytes - kept)
      if (piece !== '') pieces.push(piece)
      kept += piece.length
      cut += text.length - piece.length
      return undefined
    },
    get length() {
      return kept + cut
    },
    text: () => pieces.join('') + (cut === 0 ? '' : `\n… ${cut} more characters printed`),
  }
}
