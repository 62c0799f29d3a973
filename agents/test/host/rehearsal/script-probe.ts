/** Does the same for JavaScript and TypeScript: it prints `{call, result}` and `{call, raises}`, each with whether it is `async`. */
export function scriptProbe(of: { importHere: string; qualifiedName: string; code: string }): string {
  const { importHere, qualifiedName, code } = of
  return `${importHere}\nconst subject = ${JSON.stringify({ path: qualifiedName.split('.'), code })}\nconst owner = ${qualifiedName.split('.')[0]}\n${program}`
}

const program = String.raw`
const maxCalls = 60, maxShown = 6, maxLength = 300
const numbers = ['3', '0', '100'], texts = ["'abc'", "''", "'a b'"], lists = ['[3, 1]', '[]'], truths = ['true', 'false']
const [ownerName, methodName] = subject.path

/** The parameters of a function by its text: name, type and whether it has a default. */
function parametersOf(code, name) {
  const from = code.search(new RegExp('\\b' + name.replaceAll('$', '\\$') + '\\s*(?:=\\s*(?:async\\s*)?(?:function\\s*\\w*\\s*)?)?(?:<[^()]*>)?\\s*\\('))
  const open = code.indexOf('(', Math.max(0, from))
  if (open < 0) return []
  const parts = ['']
  let depth = 0
  for (const char of code.slice(open + 1)) {
    if (')]}>'.includes(char) && --depth < 0) break
    if ('([{<'.includes(char)) depth++
    if (char === ',' && depth === 0) parts.push('')
    else parts[parts.length - 1] += char
  }
  return parts.map((part) => part.trim()).filter((part) => part !== '' && !part.startsWith('...') && !part.startsWith('this:'))
}

function valuesOf(parameter) {
  const [, name = '', optional = '', type = '', given] = /^([\w$]+)(\?)?\s*(?::\s*([^=]*?))?\s*(?:=\s*(.*))?$/s.exec(parameter) ?? []
  const values = byType(type.trim() || kindOf(given, name))
  return optional !== '' || given !== undefined ? [undefined, ...values] : values
}

function kindOf(given, name) {
  if (given !== undefined) return /^\d/.test(given) ? 'number' : /^['"]/.test(given) ? 'string' : /^(?:true|false)/.test(given) ? 'boolean' : /^\[/.test(given) ? 'array' : ''
  if (/^(?:n|i|a|b|x|y|min|max|size|total)$|count|num|index|length|amount|price|width|height|limit/i.test(name)) return 'number'
  if (/str|text|name|path|key|title|label|word/i.test(name)) return 'string'
  return /list|array|items|values|rows/i.test(name) ? 'array' : ''
}

function byType(type) {
  if (/\[\]$|^(?:readonly |Array<|ReadonlyArray<|array)/.test(type)) return /string/.test(type) ? ["['b', 'a']", '[]'] : lists
  if (type.includes('|')) return type.split('|').flatMap((one) => byType(one.trim()))
  if (/^['"\d]/.test(type)) return [type]
  if (type === 'number') return numbers
  if (type === 'string') return texts
  if (type === 'boolean') return truths
  if (type === 'null' || type === 'undefined') return [type]
  return type === '' || type === 'unknown' || type === 'any' ? [texts[0], numbers[0], lists[0], '{}', 'null'] : ['{}', 'null']
}

function* argumentsOf(parameters) {
  const choices = parameters.map(valuesOf)
  const first = choices.map((values) => values[0])
  const written = (picked) => {
    while (picked.length > 0 && picked.at(-1) === undefined) picked = picked.slice(0, -1)
    return picked.map((value) => value ?? 'undefined').join(', ')
  }
  yield written(first)
  for (const [at, values] of choices.entries()) for (const value of values.slice(1)) yield written(first.with(at, value))
  if (choices.length > 1) yield written(choices.map((values) => values.at(-1)))
}

function* calls() {
  if (methodName === undefined) {
    for (const given of argumentsOf(parametersOf(subject.code, ownerName))) yield ownerName + '(' + given + ')'
    return
  }
  const own = [...argumentsOf(parametersOf(subject.code, methodName))]
  const member = Object.getOwnPropertyDescriptor(owner.prototype ?? {}, methodName)
  const makers = member === undefined ? [ownerName] : [...argumentsOf(parametersOf(String(owner), 'constructor'))].slice(0, 4).map((given) => 'new ' + ownerName + '(' + given + ')')
  for (const made of makers) {
    if (member?.get !== undefined) yield made + '.' + methodName
    else for (const given of own) yield made + '.' + methodName + '(' + given + ')'
  }
}

function shown(value, depth = 4) {
  if (depth === 0) throw new TypeError('too deep')
  if (value === null || value === undefined || typeof value === 'boolean') return String(value)
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value === 'bigint') return value + 'n'
  if (typeof value === 'string') return "'" + JSON.stringify(value).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'") + "'"
  if (Array.isArray(value)) return '[' + value.map((one) => shown(one, depth - 1)).join(', ') + ']'
  if (Object.getPrototypeOf(value) !== Object.prototype) throw new TypeError('no plain value')
  const fields = Object.entries(value).map(([key, one]) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : shown(key)) + ': ' + shown(one, depth - 1))
  return fields.length === 0 ? '{}' : '{ ' + fields.join(', ') + ' }'
}

const evaluate = new Function(ownerName, 'call', 'return eval(call)')
const silly = new Set(['TypeError', 'ReferenceError', 'SyntaxError'])
const seen = new Set()
let tried = 0
for (const call of calls()) {
  if (++tried > maxCalls || seen.size === maxShown) break
  let found
  let isAsync = false
  try {
    const value = evaluate(owner, '(' + call + ')')
    isAsync = typeof value?.then === 'function'
    const result = shown(await value)
    if (result === 'undefined' || shown(await evaluate(owner, '(' + call + ')')) !== result) continue
    found = { call, async: isAsync, result }
  } catch (error) {
    if (!(error instanceof Error) || !/\bthrow\b/.test(subject.code) || (silly.has(error.name) && !subject.code.includes(error.name))) continue
    found = { call, async: isAsync, raises: error.name }
  }
  const key = found.result ?? found.raises
  if (seen.has(key) || key.length + call.length > maxLength) continue
  seen.add(key)
  console.log(JSON.stringify(found))
}
`
