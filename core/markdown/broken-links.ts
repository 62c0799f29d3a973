import { distance } from 'fastest-levenshtein'
import { getOrMake } from '#platform/cached-answers.ts'
import { folderOf, RepoPath } from '#domain/repo-path.ts'
import { anchorsOf, maxArticleCharacters, readArticle, slugOf } from './read-article.ts'

/** What is asked of the repository: the text of a file, undefined where there is none. */
export type ReadText = (path: string) => Promise<string | undefined>

/** Only links to texts are judged: whether a picture is there, a reader of texts cannot say. Pages that a build makes are not there. */
const judged = /\.(?:md|markdown|rst|txt|py|pyi|js|ts|tsx|toml|ya?ml|json|cfg|ini|sh|go|rs|java|c|h|cpp|rb)$/i
const article = /\.(?:md|markdown)$/i

export type Target = { path: string; anchor: string }

/** A file that links may lead to. Its anchors are undefined where they are not looked at. */
type LinkedFile = { anchors(): Promise<ReadonlySet<string> | undefined> }

/** Every file is parsed once at most. */
export type LinkedFiles = {
  at(path: string): Promise<LinkedFile | undefined>
  /** Of the files that were parsed. */
  characters(): number
}

export function openLinkedFiles(read: ReadText): LinkedFiles {
  const files = new Map<string, Promise<LinkedFile | undefined>>()
  const parsed = new Map<string, Promise<ReadonlySet<string>>>()
  let characters = 0
  const parse = async (path: string) => {
    const text = (await read(path)) ?? ''
    characters += text.length
    return anchorsOf(readArticle(text))
  }
  // The text is read again when it is parsed, so that not all are kept.
  const open = async (path: string): Promise<LinkedFile | undefined> => {
    const text = await read(path)
    if (text === undefined) return undefined
    const isRead = article.test(path) && text.length <= maxArticleCharacters
    return { anchors: async () => (isRead ? getOrMake(parsed, path, () => parse(path)) : undefined) }
  }
  return { at: (path) => getOrMake(files, path, () => open(path)), characters: () => characters }
}

/** The file and anchor of a relative link; undefined for other links, and those that a template or a build completes. */
function targetOf(link: string, from: string): Target | undefined {
  const raw = decoded(link)
  if (/^(?:[a-z][a-z\d+.-]*:|\/)|[{}<>?*]/i.test(raw)) return undefined
  const [file = '', ...anchor] = raw.split('#')
  const parts = file === '' ? from.split('/') : [...folderOf(from).split('/'), ...file.split('/')].filter(Boolean)
  const path = parts.reduce<string[]>(
    (done, part) => (part === '.' ? done : part === '..' ? done.slice(0, -1) : [...done, part]),
    [],
  )
  const levels = file.split('/').filter((part) => part === '..').length
  const isInside = levels <= folderOf(from).split('/').filter(Boolean).length
  const joined = path.join('/')
  return isInside && RepoPath.safeParse(joined).success ? { path: joined, anchor: anchor.join('#') } : undefined
}

function decoded(link: string): string {
  try {
    return decodeURIComponent(link)
  } catch {
    return link
  }
}

/** Where a link of the file `from` leads, for links that can be judged. */
export function judgedTarget(link: string, from: string): Target | undefined {
  const target = targetOf(link, from)
  return target !== undefined && (target.path === from || judged.test(target.path)) ? target : undefined
}

/** Why a link leads nowhere, in words; undefined for one that leads somewhere. */
export async function reasonBroken({ path, anchor }: Target, files: LinkedFiles): Promise<string | undefined> {
  const file = await files.at(path)
  if (file === undefined) return `there is no file ${path}`
  if (anchor === '' || /^L\d+/.test(anchor)) return undefined
  return (await file.anchors())?.has(anchor) === false ? `${path} has no heading #${anchor}` : undefined
}

/** Among more anchors of about its length, or for a longer one, none is looked for. */
const maxNear = 2_000
const maxNearCharacters = 200

/** The anchor that was meant: the only one that is spelled nearly like it. */
export function anchorMeant(anchor: string, anchors: ReadonlySet<string>): string | undefined {
  const slug = slugOf(anchor)
  if (anchors.has(slug)) return slug
  if (slug.length > maxNearCharacters) return undefined
  const most = Math.min(2, Math.floor(slug.length / 4))
  const alike = [...anchors].filter(({ length }) => Math.abs(length - slug.length) <= most)
  if (alike.length > maxNear) return undefined
  const near = alike.filter((one) => distance(one, slug) <= most)
  return near.length === 1 ? near[0] : undefined
}
