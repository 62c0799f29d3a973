/**
 * The function the agent works on, 27 lines; its number makes path, name and text its own, so that no cache has seen
 * it.
 */
const body = Array.from({ length: 24 }, (_, step) => `    value_${step} = transform(name, step=${step}, strict=True)`)

export type NodeSource = {
  path: string
  name: string
  file: string
  /** The function's first byte in the file; it ends where the file does. */
  startByte: number
  text: string
}

/** Node number `number`: one file of one function below a marker line. */
export function nodeSource(number: number): NodeSource {
  const name = `greet_${number}`
  const text = [`def ${name}(name: str) -> str:`, ...body, '    return f"hello {name}"'].join('\n')
  const head = '# READ-RESULT-MARK\n'
  return { path: `src/app_${number}.py`, name, file: `${head}${text}\n`, startByte: head.length, text }
}

/** The first message about a node, as the bundle's template renders it. */
export function nodeMessage({ name, path, text }: NodeSource): string {
  return `The node is the function ${name} in ${path}, lines 1 to 27:\n\n\`\`\`python\n${text}\n\`\`\`\n`
}
