export type PrintedText = ReturnType<typeof openPrintedText>

/** Monty holds printed text until the script waits or ends, in 128 MiB. Each print costs `perPrintBytes` more. */
export const mostPrinted = { heldBytes: 16 * 1024 * 1024, perPrintBytes: 64 }

/** Collects what a script prints, up to `maxBytes` (UTF-16 units), and notes at the end how much was cut. */
export function openPrintedText(maxBytes: number) {
  const pieces: string[] = []
  let kept = 0
  let cut = 0
  let held = 0
  return {
    // Monty treats any return value but undefined as an error.
    add(_stream: string, text: string): undefined {
      held += text.length + mostPrinted.perPrintBytes
      if (held > mostPrinted.heldBytes) throw new Error('the script prints too much')
      const piece = text.slice(0, maxBytes - kept)
      if (piece !== '') pieces.push(piece)
      kept += piece.length
      cut += text.length - piece.length
      return undefined
    },
    get isOver() {
      return held > mostPrinted.heldBytes
    },
    get length() {
      return kept + cut
    },
    text: (): string => pieces.join('') + (cut === 0 ? '' : `\n… ${cut} more characters printed`),
  }
}
