/** Whether `text` can be the address of a model server. */
export function isModelServer(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)
}

/** `rehearsal`, or the address of a model server, or several separated by commas. */
export function isModelServers(text: string): boolean {
  if (text === 'rehearsal') return true
  const named = text.split(',').map((entry) => entry.trim())
  const servers = named.filter((entry) => entry !== '')
  return servers.length > 0 && servers.every(isModelServer)
}
