import { foldedPath } from './folded-tree.ts'

/** Matches what the common code hosts run of a repository. */
const ofHost = /^\.(?:(?:github|gitea|forgejo)\/(?:workflows|actions)(?:\/|$)|gitlab-ci\.yml$|gitlab\/ci(?:\/|$))/

/** Folders of code hosts, continuous integration, hooks, editors and agents, wherever they are. */
const folders = new Set(
  `.github .gitea .forgejo .gitlab .circleci .buildkite .azure-pipelines .semaphore .teamcity .woodpecker .builds .husky .githooks .devcontainer
   .vscode .idea .claude .codex .cursor .gemini .windsurf .roo .kiro .junie .continue .clinerules .remora`.split(/\s+/),
)

/** Names their files, in small letters and without the ending of YAML, TOML or JSON. */
const files = new Set(
  `action .gitlab-ci jenkinsfile azure-pipelines .travis .drone .woodpecker .cirrus bitbucket-pipelines appveyor .appveyor cloudbuild buildspec
   wercker codemagic .build .gitpod netlify vercel .readthedocs codecov .codecov dependabot renovate .renovaterc .mergify .pre-commit-config
   .pre-commit-hooks lefthook .lefthook .lintstagedrc .releaserc .goreleaser .mcp codeowners .gitattributes .lfsconfig .npmrc .yarnrc
   .pnpmfile .envrc remora .cursorrules .windsurfrules .clinerules .roorules .rules .aider.conf`.split(/\s+/),
)
const endings = /\.(?:ya?ml|toml|jsonc?|json5|cjs|js)$/

/** Matches what agents read in any folder, as Codex, Claude Code, Gemini, Copilot, Cursor, Zed and Qwen Code spell it. */
const ofAgents = /^(?:agents?|agents\.override|claude|claude\.local|gemini|qwen|crush|warp)\.md$/
/** A page in such a folder that is written in small letters is one of a manual. */
const ofManual = /^(?:docs?|documentation|website|sites?|manual|guides?|wiki)$/

/** Is true when the code host runs it, for which an app needs a permission of its own. */
export function isWorkflow(path: string): boolean {
  return ofHost.test(foldedPath(path))
}

/** Is true when the file takes effect before it is merged, or on the machine of whoever checks the branch out. */
export function actsOnItsOwn(path: string): boolean {
  const names = foldedPath(path).split('/')
  const last = names.at(-1) ?? ''
  if (names.slice(0, -1).some((name) => folders.has(name))) return true
  if (ofAgents.test(last)) return !isPageOfManual(path)
  // A module of a program may be called so, too.
  const bare = last.replace(endings, '')
  const isCode = /\.(?:cjs|js)$/.test(last)
  return (files.has(last) || files.has(bare)) && (!isCode || bare.startsWith('.'))
}

/** Agents ask for the names in capitals. In small letters, in a folder of documentation, it is a page about agents. */
function isPageOfManual(path: string): boolean {
  const last = path.split('/').at(-1) ?? ''
  const inside = foldedPath(path).split('/').slice(0, -1)
  return last === last.toLowerCase() && inside.some((name) => ofManual.test(name))
}
