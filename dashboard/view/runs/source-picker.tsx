import { useEffect, useRef, useState } from 'preact/hooks'
import { plural } from '#domain/timeline/words.ts'
import { filesOfDrop, filesOfFolder, isArchive, type PickedFile } from '../../core/pack-files.ts'
import { useAction } from '../parts/use-action.tsx'

type PickerProps = { files: readonly PickedFile[]; onFiles: (files: readonly PickedFile[]) => void }

/** Takes a folder or an archive, by a drop or by the browser's own dialog. */
export function SourcePicker({ files, onFiles }: PickerProps) {
  const [isOver, setOver] = useState(false)
  const folder = useRef<HTMLInputElement>(null)
  const archive = useRef<HTMLInputElement>(null)
  const action = useAction()
  useEffect(() => {
    if (folder.current !== null) folder.current.webkitdirectory = true // the types of JSX do not know it
  }, [])
  function drop(event: DragEvent): void {
    event.preventDefault()
    setOver(false)
    const items = event.dataTransfer?.items
    if (items !== undefined) action.run(async () => onFiles(await filesOfDrop(items)))
  }
  return (
    <section class="stack tight" aria-label="Code">
      <div
        class={isOver ? 'drop over' : 'drop'}
        onDragOver={(event) => {
          event.preventDefault()
          setOver(true)
        }}
        onDragLeave={() => setOver(false)}
        onDrop={drop}
      >
        <p>{describe(files)}</p>
        <div class="row">
          <button onClick={() => folder.current?.click()}>Choose a folder</button>
          <button onClick={() => archive.current?.click()}>Choose an archive</button>
        </div>
        <p class="quiet small">
          A folder is sent without .git and node_modules. An archive is a .tar, .tar.gz, .tgz or .zip.
        </p>
      </div>
      <input
        ref={folder}
        type="file"
        hidden
        aria-label="Folder"
        onChange={({ currentTarget }) => onFiles(filesOfFolder(currentTarget.files ?? []))}
      />
      <input
        ref={archive}
        type="file"
        hidden
        accept=".tar,.gz,.tgz,.zip"
        aria-label="Archive"
        onChange={({ currentTarget }) =>
          onFiles(Array.from(currentTarget.files ?? [], (file) => ({ path: file.name, file })))
        }
      />
      {action.problem}
    </section>
  )
}

function describe(files: readonly PickedFile[]): string {
  const [only] = files
  if (only === undefined) return 'Drop a folder or an archive here.'
  const bytes = files.reduce((sum, { file }) => sum + file.size, 0)
  const size = bytes < 1e6 ? `${Math.ceil(bytes / 1e3)} kB` : `${(bytes / 1e6).toFixed(1)} MB`
  if (files.length === 1 && isArchive(only.file)) return `${only.file.name}, ${size}`
  return `${plural(files.length, 'file')}, ${size}`
}
