type Node =
  | { kind: 'text'; text: string }
  | { kind: 'class'; matches: RegExp }
  | { kind: 'rule'; name: string }
  | { kind: 'sequence' | 'choice'; parts: Node[] }
  | { kind: 'repeat'; part: Node; least: number; most: number }

/** Whether a grammar in the notation of llama.cpp and xgrammar (as far as ours go) describes all of `text`. */
export function grammarMatches(grammar: string, text: string): boolean {
  const rules = new Map<string, Node>()
  for (const line of grammar.split('\n')) {
    const [name = '', body = ''] = line.split(/ ::= (.*)/s)
    if (rules.has(name)) throw new Error(`two rules are named ${name}`)
    rules.set(name, parseExpression(body))
  }
  return endsOf({ kind: 'rule', name: 'root' }, text, 0, rules).has(text.length)
}

function parseExpression(source: string): Node {
  const tokens = source.match(/"(?:\\.|[^"\\])*"|\[(?:\\.|[^\]\\])*\]|[A-Za-z][\w-]*|\{\d+,\d*\}|[()|*+?]/g) ?? []
  let at = 0
  const choice = (): Node => {
    const parts = [sequence()]
    while (tokens[at] === '|') {
      at++
      parts.push(sequence())
    }
    return { kind: 'choice', parts }
  }
  const sequence = (): Node => {
    const parts: Node[] = []
    for (let token = tokens[at]; token !== undefined && token !== '|' && token !== ')'; token = tokens[at]) {
      at++
      parts.push(repeated(token === '(' ? closed(choice()) : leaf(token)))
    }
    return { kind: 'sequence', parts }
  }
  const closed = (inner: Node): Node => {
    if (tokens[at++] !== ')') throw new Error(`unbalanced: ${source}`)
    return inner
  }
  const repeated = (part: Node): Node => {
    const sign = tokens[at] ?? ''
    const [, least, most] = /^\{(\d+),(\d*)\}$/.exec(sign) ?? []
    if (least === undefined && sign !== '*' && sign !== '+' && sign !== '?') return part
    at++
    if (least !== undefined) return { kind: 'repeat', part, least: Number(least), most: Number(most || Infinity) }
    return { kind: 'repeat', part, least: sign === '+' ? 1 : 0, most: sign === '?' ? 1 : Infinity }
  }
  const whole = choice()
  if (at !== tokens.length) throw new Error(`unbalanced: ${source}`)
  return whole
}

function leaf(token: string): Node {
  if (token.startsWith('"')) return { kind: 'text', text: JSON.parse(token) }
  if (token.startsWith('[')) return { kind: 'class', matches: new RegExp(`^${token}$`) }
  return { kind: 'rule', name: token }
}

/** Every place where a match that begins at `from` can end. */
function endsOf(node: Node, text: string, from: number, rules: ReadonlyMap<string, Node>): Set<number> {
  switch (node.kind) {
    case 'text':
      return new Set(text.startsWith(node.text, from) ? [from + node.text.length] : [])
    case 'class':
      return new Set(from < text.length && node.matches.test(text.charAt(from)) ? [from + 1] : [])
    case 'rule': {
      const rule = rules.get(node.name)
      if (rule === undefined) throw new Error(`there is no rule ${node.name}`)
      return endsOf(rule, text, from, rules)
    }
    case 'choice':
      return new Set(node.parts.flatMap((part) => [...endsOf(part, text, from, rules)]))
    case 'sequence':
      return node.parts.reduce((starts, part) => after(starts, part, text, rules), new Set([from]))
    case 'repeat': {
      let starts = new Set([from])
      const ends = new Set(node.least === 0 ? [from] : [])
      for (let count = 1; count <= node.most && starts.size > 0; count++) {
        starts = new Set([...after(starts, node.part, text, rules)].filter((end) => !ends.has(end)))
        if (count >= node.least) for (const end of starts) ends.add(end)
      }
      return ends
    }
  }
}

function after(starts: ReadonlySet<number>, part: Node, text: string, rules: ReadonlyMap<string, Node>): Set<number> {
  return new Set([...starts].flatMap((start) => [...endsOf(part, text, start, rules)]))
}
