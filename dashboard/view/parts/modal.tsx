import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

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
