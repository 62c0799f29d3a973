/** Folders that only ever hold other people's code or compiled copies of one's own. */
const vendoredNames: ReadonlySet<string> = new Set([
  'node_modules',
  'bower_components',
  'jspm_packages',
  'site-packages',
  'dist-packages',
  '__pycache__',
])

/** Files that prove the folder they lie in to be vendored, whatever its name: `venv` and `vendor` may be one's own. */
const vendoringMarks: readonly string[] = ['pyvenv.cfg', 'vendor/modules.txt', 'vendor/autoload.php']

/** Whether a folder of this name is vendored, whatever lies in it. */
export function isVendoredName(name: string): boolean {
  return vendoredNames.has(name)
}

/** The folder that the file at `path` proves to be vendored, if it is such a mark. */
export function vendoredFolder(path: string): string | undefined {
  const mark = vendoringMarks.find((name) => path.endsWith(`/${name}`) || path === name)
  return mark === undefined || !path.includes('/') ? undefined : path.slice(0, path.lastIndexOf('/'))
}
