import { charsets, type Charset } from "@coffer/client/internal/GeneratedValue"
import { useSignal } from "@preact/signals"
import { Choose } from "../../kit/Choose.js"
import { TextField } from "../../kit/TextField.js"

const isCharset = (name: string): name is Charset => Object.hasOwn(charsets, name)
const names = Object.keys(charsets).filter(isCharset)

const maxLength = 4_096

/** Returns a random text: each character with the same probability. */
export const randomText = (length: number, charset: Charset): string => {
  const characters = charsets[charset]
  // Bytes from here on would make the first characters more probable.
  const end = 256 - (256 % characters.length)
  let text = ""
  while (text.length < length) {
    for (const byte of crypto.getRandomValues(new Uint8Array(256))) {
      if (byte < end && text.length < length) text += characters.charAt(byte % characters.length)
    }
  }
  return text
}

interface GenerateProps {
  /** The label of the button that generates a value. */
  readonly word: string
  /** Takes a function that makes another value with each call. */
  readonly fill: (next: () => string) => void
}

/** Makes random values, in a part that is folded. */
export const Generate = ({ fill, word }: GenerateProps) => {
  const length = useSignal("32")
  const charset = useSignal<Charset>("alnum")
  const count = /^[1-9][0-9]{0,3}$/.test(length.value) ? Number(length.value) : 0
  const isBad = count < 1 || count > maxLength
  const bits = Math.floor(count * Math.log2(charsets[charset.value].length))
  return (
    <details class="more matrix-generate" data-passing>
      <summary>Generate</summary>
      <div class="fields">
        <TextField label="Length" text={length} maxLength={4} isBad={isBad} />
        <Choose label="Characters" value={charset.value} words={names} choose={(name) => (charset.value = name)} />
        <button
          type="button"
          disabled={isBad}
          onClick={() => {
            fill(() => randomText(count, charset.value))
          }}
        >
          {word}
        </button>
      </div>
      <p class="hint">
        {isBad ? `A length from 1 to ${maxLength.toLocaleString("en")}` : `${bits.toLocaleString("en")} random bits`}
      </p>
    </details>
  )
}
