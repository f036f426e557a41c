import type { IconNode } from "lucide"
import { Icon } from "./Icon.js"
import { When } from "./When.js"

/** How many colours the discs of people have: see the style `.disc`. */
const hues = 6

const hueOf = (text: string): number =>
  [...text].reduce((sum, one) => (sum * 31 + (one.codePointAt(0) ?? 0)) % 9973, 7) % hues

/** One or two letters of an address: of its first two words before the @. */
const initialsOf = (address: string): string => {
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

/** A name with the icon of its kind in place of a disc: a group, or an account of a machine. */
export const Named = ({ icon, name }: { readonly icon: IconNode; readonly name: string }) => (
  <span class="person">
    <span class="disc kind">
      <Icon of={icon} />
    </span>
    <bdi>{name}</bdi>
  </span>
)

/** A time, and the person or account whose work it was. */
export const By = ({ time, who }: { readonly time: string; readonly who: string }) => (
  <>
    <When time={time} /> <span class="hidden">by </span>
    <Person address={who} />
  </>
)
