import { Dialog } from "../kit/Dialog.js"
import "./Palette.css"

const keys: ReadonlyArray<readonly [string, string]> = [
  ["Ctrl K or ⌘K", "Go to any place, key or action"],
  ["?", "This list"],
  ["/", "Filter the keys of the matrix"],
  ["Ctrl V or ⌘V", "On any page of a project: stage the secrets of the text or the file"],
  ["Arrows, Page Up, Page Down", "Move in the matrix"],
  ["Home, End", "First and last environment; with Ctrl, first and last key too"],
  ["Enter or E", "Edit or create the secret; on a key, its page"],
  ["Shift Space", "Choose the key of this row, or no longer; on a key, Space alone"],
  ["Shift with arrows", "Choose the keys up to there"],
  ["Ctrl A or ⌘A", "Choose all keys that the filter shows"],
  ["Space", "Look at the secret: reveal, copy, versions"],
  ["Delete", "Stage its removal; again, take it back"],
  ["Ctrl Z or ⌘Z", "Take the last staged change back"],
  ["Esc", "Close what is open; in the matrix, choose none"]
]

/** The dialog that lists the keyboard shortcuts. */
export const KeyMap = ({ close }: { readonly close: () => void }) => (
  <Dialog title="Keyboard" close={close}>
    <dl class="keys">
      {keys.map(([key, meaning]) => (
        <>
          <dt>
            <kbd>{key}</kbd>
          </dt>
          <dd>{meaning}</dd>
        </>
      ))}
    </dl>
  </Dialog>
)
