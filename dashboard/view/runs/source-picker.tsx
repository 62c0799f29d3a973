import { useEffect, useRef, useState } from 'preact/hooks'
import { plural } from '#domain/timeline/words.ts'
import { filesOfDrop, filesOfFolder, isArchive, type PickedFile } from '../../core/pack-files.ts'
import { useAction } from '../parts/controls.tsx'

type PickerProps = { files: readonly PickedFile[]; onFiles: (files: readonly PickedFile[]) => void }

/** Takes a folder or an archive, by a drop or by the browser's own dialog. */
export function SourcePicker({ files, onFiles }: PickerProps) {
  const [isOver, setOver] = useState(false)
  const action = useAction()
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
          <FileButton label="Choose a folder" isFolder onFiles={(picked) => onFiles(filesOfFolder(picked))} />
          <FileButton
            label="Choose an archive"
            onFiles={(picked) => onFiles(Array.from(picked, (file) => ({ path: file.name, file })))}
          />
        </div>
        <p class="quiet small">
          A folder is sent without .git and node_modules. An archive is a .tar, .tar.gz, .tgz or .zip.
        </p>
      </div>
      {action.problem}
    </section>
  )
}

type FileButtonProps = { label: string; isFolder?: boolean; onFiles: (files: Iterable<File>) => void }

/** Opens the browser's dialog. */
function FileButton({ label, isFolder, onFiles }: FileButtonProps) {
  const input = useRef<HTMLInputElement>(null)
  useEffect(() => {
    if (input.current !== null) input.current.webkitdirectory = isFolder === true // the types of JSX do not know it
  }, [isFolder])
  return (
    <>
      <button onClick={() => input.current?.click()}>{label}</button>
      <input
        ref={input}
        type="file"
        hidden
        accept={isFolder === true ? undefined : '.tar,.gz,.tgz,.zip'}
        aria-label={label}
        onChange={({ currentTarget }) => onFiles(currentTarget.files ?? [])}
      />
    </>
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
