import { createHash } from 'node:crypto'
import { globSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/**
 * `node scripts/build-dashboard.ts`: makes the page of `dashboard/`, which the API serves. `npm ci` runs it, and `npm run dev` after each change. The names of its files hold
 * the hash of their content, so a browser keeps them.
 *
 * Vite was looked at: of what it brings the page needs Rolldown alone, which the project has.
 */
const root = fileURLToPath(new URL('../', import.meta.url))
const source = join(root, 'dashboard')
const out = join(source, 'dist')
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

/** Makes the scripts, each by its name. Returns also the name of the first one, and the ids of all modules. */
async function makeScripts() {
  const bundle = await rolldown({
    cwd: root,
    platform: 'browser',
    input: { main: join(source, 'main.tsx') },
    transform: {
      define: { PAGE_VERSION: JSON.stringify(version), 'process.env.NODE_ENV': '"production"' },
    },
  })
  const { output } = await bundle.generate({
    minify: true,
    entryFileNames: '[name]-[hash].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await bundle.close()
  const chunks = output.filter((part) => part.type === 'chunk')
  return {
    scripts: chunks.map(({ fileName, code }) => [fileName, code] as const),
    first: chunks.find(({ isEntry }) => isEntry)?.fileName ?? '',
    modules: chunks.flatMap(({ moduleIds }) => moduleIds),
  }
}

function makeStyle(): readonly [name: string, text: string] {
  const files = globSync('style/*.css', { cwd: source }).toSorted()
  const css = [...files.map((file) => join(source, file)), join(root, 'node_modules/uplot/dist/uPlot.min.css')]
  const text = css.map((file) => readFileSync(file, 'utf8')).join('\n')
  return [`style-${createHash('sha256').update(text).digest('hex').slice(0, 8)}.css`, text]
}

/** Whoever has the page open, or builds it meanwhile, has all of its files at every moment: the same content has the same name. */
function putFiles(files: ReadonlyMap<string, string>): void {
  mkdirSync(out, { recursive: true })
  for (const [name, text] of files) {
    const made = join(out, `${name}.${process.pid}`)
    writeFileSync(made, text)
    renameSync(made, join(out, name))
  }
  for (const name of readdirSync(out)) if (/\.(?:js|css|html)$/.test(name) && !files.has(name)) rmSync(join(out, name))
}

const page = readFileSync(join(source, 'index.html'), 'utf8')
const [{ scripts, first, modules }, style] = [await makeScripts(), makeStyle()]
const index = page.replace('main.js', `assets/${first}`).replace('style.css', `assets/${style[0]}`)
putFiles(new Map([...scripts, style, ['index.html', index]]))

/** Ids of the modules in the page, whose packages have licenses. */
export const pageModules: readonly string[] = modules
