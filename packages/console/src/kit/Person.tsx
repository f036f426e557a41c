/** How many colours the discs of people have: see the style `.disc`. */
const hues = 6

const hueOf = (text: string): number =>
  [...text].reduce((sum, one) => (sum * 31 + (one.codePointAt(0) ?? 0)) % 9973, 7) % hues

/** One or two letters of an address: of its first two words before the @. */
export const initialsOf = (address: string): string => {
  const words = (address.split("@")[0] ?? "").split(/[^\p{L}\p{N}]+/u).filter((word) => word !== "")
  return words
    .slice(0, 2)
    .map((word) => [...word][0] ?? "")
    .join("")
    .toUpperCase()
}

/** The disc with the initials of a person, drawn and no text of the page. Its colour is always the same for an address. */
export const Disc = ({ address }: { readonly address: string }) => (
  <span class={`disc hue-${hueOf(address)}`} data-initials={initialsOf(address)} aria-hidden="true" />
)

/** A person: the disc, and the address. */
export const Person = ({ address }: { readonly address: string }) => (
  <span class="person">
    <Disc address={address} />
    <bdi>{address}</bdi>
  </span>
)
