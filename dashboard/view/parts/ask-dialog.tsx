import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Modal } from './modal.tsx'

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
