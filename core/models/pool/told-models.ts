const most = { models: 10, characters: 100 }

/** Names of models for a message: the first ten, clipped, and how many more there are. A server may list thousands. */
export function toldModels(models: readonly string[]): string {
  const names = models.slice(0, most.models).map(clipped).join(', ')
  return models.length > most.models ? `${names} and ${models.length - most.models} more` : names
}

function clipped(name: string): string {
  return name.length > most.characters ? `${name.slice(0, most.characters)}…` : name
}
