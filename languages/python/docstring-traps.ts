/** Examples after a prompt, which doctest runs, and directives with which Sphinx runs code or reads files. */
const run =
  /^[ \t]*(?:>>>[ \t]|\.\.[ \t]+(?:doctest|test(?:code|setup|cleanup|output)|plot|ipython|exec[\w-]*|jupyter-\w+|(?:program|command)-output|(?:literal)?include|raw|eval-\w+)::).*/gm

/** Says which part of a docstring documentation tools would run; of a change, only a part that it adds. */
export function docstringTrap(after: string, before = ''): string | undefined {
  const all = after.match(run)
  if (all === null) return undefined
  const left = Map.groupBy(before.match(run) ?? [], (line) => line.trim())
  const added = all.find((line) => left.get(line.trim())?.pop() === undefined)
  return added && `${JSON.stringify(added.trim().slice(0, 60))} is run by documentation tools: leave it out`
}
