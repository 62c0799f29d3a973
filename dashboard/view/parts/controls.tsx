import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { ProblemBox } from './shown.tsx'

type ChoiceProps = {
  label: string
  value: string
  /** Each with what is shown for it; by itself, a value is shown as it is. */
  options: readonly (string | readonly [value: string, text: string])[]
  onChange: (value: string) => void
}

/** Lets a person choose one of several values. */
export function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {options.map((option) => {
        const [of, text] = typeof option === 'string' ? [option, option] : option
        return (
          <option key={of} value={of}>
            {text}
          </option>
        )
      })}
    </select>
  )
}

type SearchProps = { label: string; hint: string; value: string; onChange: (value: string) => void }

/** Takes words to search for. */
export function SearchField({ label, hint, value, onChange }: SearchProps) {
  return (
    <input
      type="search"
      class="grow"
      placeholder={hint}
      aria-label={label}
      value={value}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  )
}

type ModalProps = { title: string; onClose: () => void; children: ComponentChildren }

/** Shows a dialog over the page until it is closed; Escape closes it, and the focus goes back to where it was. */
export function Modal({ title, onClose, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement
    dialog.current?.showModal()
    return () => {
      if (before instanceof HTMLElement) before.focus({ preventScroll: true })
    }
  }, [])
  return (
    <dialog ref={dialog} class="modal" aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
    </dialog>
  )
}

type AskProps = {
  title: string
  /** Is on the button that does it. */
  verb: string
  isDangerous?: boolean
  onAnswer: () => void
  onClose: () => void
  children?: ComponentChildren
}

/** Asks before something is done. It closes by its buttons and by Escape. */
function AskDialog({ title, verb, isDangerous, onAnswer, onClose, children }: AskProps) {
  return (
    <Modal title={title} onClose={onClose}>
      <form class="stack" method="dialog" onSubmit={() => onAnswer()}>
        {children}
        <div class="row">
          <button class={isDangerous === true ? 'danger' : 'primary'} type="submit">
            {verb}
          </button>
          <button type="button" onClick={onClose}>
            Leave it
          </button>
        </div>
      </form>
    </Modal>
  )
}

type AskingButtonProps = Omit<AskProps, 'onClose'> & { label: string; disabled?: boolean }

/** Is a button that asks before it does what it says. */
export function AskingButton({ label, disabled, ...asked }: AskingButtonProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        class={asked.isDangerous === true ? 'danger' : undefined}
        disabled={disabled}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {isOpen && <AskDialog {...asked} onClose={() => setOpen(false)} />}
    </>
  )
}

export type Action = {
  run: (work: () => Promise<unknown>) => void
  isBusy: boolean
  /** Says what went wrong the last time, as a box; null where nothing did. */
  problem: ReturnType<typeof ProblemBox> | null
}

/** Does what a person asks for, one thing at a time, and keeps what went wrong. */
export function useAction(): Action {
  const [state, setState] = useState<{ isBusy: boolean; error?: unknown }>({ isBusy: false })
  return {
    run(work) {
      if (state.isBusy) return
      setState({ isBusy: true })
      work().then(
        () => setState({ isBusy: false }),
        (error: unknown) => setState({ isBusy: false, error }),
      )
    },
    isBusy: state.isBusy,
    problem: state.error === undefined ? null : <ProblemBox error={state.error} />,
  }
}

/** Has the browser keep `content` as a file of that name. */
export function saveFile(content: Blob, name: string): void {
  const url = URL.createObjectURL(content)
  const link = Object.assign(document.createElement('a'), { href: url, download: name })
  link.click()
  URL.revokeObjectURL(url)
}
