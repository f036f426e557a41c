import { Visible } from "../../kit/Visible.js"

interface DifferenceProps {
  readonly before: string
  readonly after: string
}

/** How many characters two texts have in common at their beginning, in the order of `at`. */
const common = (most: number, isSame: (index: number) => boolean): number => {
  let count = 0
  while (count < most && isSame(count)) count++
  return count
}

/** Where two texts differ: between what they have in common at their ends. Pairs of surrogates stay whole. */
export const differenceOf = (before: string, after: string) => {
  const [old, next] = [[...before], [...after]]
  const most = Math.min(old.length, next.length)
  const start = common(most, (index) => old[index] === next[index])
  const end = common(most - start, (index) => old[old.length - 1 - index] === next[next.length - 1 - index])
  const parts = (letters: ReadonlyArray<string>) => ({
    start: letters.slice(0, start).join(""),
    middle: letters.slice(start, letters.length - end).join(""),
    end: letters.slice(letters.length - end).join("")
  })
  return { before: parts(old), after: parts(next) }
}

interface PartsProps {
  readonly of: { readonly start: string; readonly middle: string; readonly end: string }
  readonly mark: "del" | "ins"
}

const Parts = ({ mark: Mark, of: { end, middle, start } }: PartsProps) => (
  <>
    {start !== "" && <Visible text={start} isEnd={middle === "" && end === ""} />}
    {middle !== "" && (
      <Mark>
        <Visible text={middle} isStart={start === ""} isEnd={end === ""} />
      </Mark>
    )}
    {end !== "" && <Visible text={end} isStart={start === "" && middle === ""} />}
  </>
)

/** Two values, one below the other, with what differs marked. */
export const Difference = ({ after, before }: DifferenceProps) => {
  const found = differenceOf(before, after)
  return (
    <div class="secret-difference">
      <output class="matrix-value" aria-label="Before">
        <Parts of={found.before} mark="del" />
      </output>
      <output class="matrix-value" aria-label="After">
        <Parts of={found.after} mark="ins" />
      </output>
    </div>
  )
}
