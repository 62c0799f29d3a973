import { options } from 'preact'
import { escapedCharacter, terminalControls } from '#domain/terminal-controls.ts'

/**
 * Has every text that the page draws show the characters that would hide text or turn its direction, whoever wrote it. Preact makes a node of
 * each text whose `props` are the text itself, and calls this hook for it.
 */
export function drawVisibleText(): void {
  const before = options.vnode
  options.vnode = (node) => {
    const text: unknown = node.props
    if (typeof text === 'string') Object.assign(node, { props: text.replaceAll(terminalControls, escapedCharacter) })
    before?.(node)
  }
}
