import { reviewKeys } from '../../core/review-keymap.ts'
import { Modal } from '../parts/controls.tsx'

/** Shows which keys do what. */
export function KeysDialog({ onClose }: { onClose: () => void }) {
  return (
    <Modal title="Keys" onClose={onClose}>
      <table>
        <tbody>
          {reviewKeys.map(({ keys, action, does }) => (
            <tr key={action}>
              <th scope="row">
                {keys.map((key) => (
                  <kbd key={key}>{key}</kbd>
                ))}
              </th>
              <td>{does}</td>
            </tr>
          ))}
          <tr>
            <th scope="row">
              <kbd>Esc</kbd>
            </th>
            <td>close a sheet, or leave a rejection</td>
          </tr>
        </tbody>
      </table>
      <div class="row">
        <button onClick={onClose}>Close</button>
      </div>
    </Modal>
  )
}
