/** The folders that a .gitmodules file in `folder` names as submodules; '' is the top. Those outside of it are none. */
export function submodulePaths(folder: string, text: string): string[] {
  const paths: string[] = []
  for (const line of text.split('\n')) {
    const [, quoted, plain] = /^\s*path\s*=\s*(?:"([^"]*)"|([^#;]*))/.exec(line) ?? []
    const segments = (quoted ?? plain ?? '').trim().split('/')
    const path = segments.filter((segment) => segment !== '' && segment !== '.').join('/')
    if (path === '' || segments.includes('..')) continue
    paths.push(folder === '' ? path : `${folder}/${path}`)
  }
  return paths
}
